// A terminal that the program believes in.
#pragma once

#include <string>
#include <vector>

namespace attn::test {

/// The master's side of a terminal whose other side is the program's.
class Terminal {
 public:
  explicit Terminal(unsigned short columns = 80);
  ~Terminal() { close(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// In the child: a session of its own, with this as its terminal on those descriptors.
  void become_controlling(const std::vector<int>& on = {0, 1, 2}) const;

  /// Types.
  void send(const std::string& keys) const;

  /// Reads until the program has written `part` after what was waited for before; false where the
  /// terminal's other side is closed, or after ten seconds without a byte.
  bool wait_for(const std::string& part);

  /// The same until the program has gone.
  void read_rest();

  const std::string& seen() const { return seen_; }

  /// The window goes: the program gets SIGHUP, and its writes fail.
  void close();

 private:
  bool read_more();

  int master_;
  std::string name_;
  std::string seen_;
  std::size_t found_ = 0;  ///< where the next wait begins
};

}  // namespace attn::test
