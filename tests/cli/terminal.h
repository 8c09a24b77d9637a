// A terminal that the program believes in.
#pragma once

#include <string>
#include <vector>

#include "run_program.h"

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

  /// Waits until "> " is shown and the program reads keystrokes: libedit writes its prompt first,
  /// and anything typed earlier goes through the terminal's own line editing.
  bool wait_for_prompt();

  /// Reads until the program has ended. The last bytes may be lost: when a session's first process
  /// ends, unread output is discarded. See in_a_shell.
  void read_rest();

  /// The same until a program in a shell has ended with that code, whose line is not in seen().
  bool wait_for_exit(int code);

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

/// The same request by a shell that waits for the program, as a user's does, says its exit code
/// and stays, so that all that was written can be read.
Request in_a_shell(Request request);

}  // namespace attn::test
