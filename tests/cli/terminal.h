// A pseudoterminal for the program.
#pragma once

#include <string>
#include <vector>

#include "run_program.h"

namespace attn::test {

/// The master side of a terminal whose other side belongs to the program.
class Terminal {
 public:
  explicit Terminal(unsigned short columns = 80);
  ~Terminal() { close(); }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  /// Called in the child: starts a session with this as its terminal on those descriptors.
  void become_controlling(const std::vector<int>& on = {0, 1, 2}) const;

  /// Types these keystrokes.
  void send(const std::string& keys) const;

  /// Reads until the program has written `part`, after the text of the previous wait. Returns
  /// false if the terminal's other side is closed, or after ten seconds without a byte.
  bool wait_for(const std::string& part);

  /// Waits until "> " is shown and the program reads keystrokes: libedit writes its prompt first,
  /// and anything typed earlier goes through the terminal's own line editing.
  bool wait_for_prompt();

  /// Reads until the program has ended. The last bytes may be lost: when a session's first process
  /// ends, unread output is discarded. See in_a_shell.
  void read_rest();

  /// Reads until a program in a shell has ended with that code, whose line is not in seen().
  bool wait_for_exit(int code);

  const std::string& seen() const { return seen_; }

  /// Closes the window: the program gets SIGHUP, and its writes fail.
  void close();

 private:
  bool read_more();

  int master_;
  std::string name_;
  std::string seen_;
  std::size_t found_ = 0;  ///< start of the next wait
};

/// Returns the same request, run by a shell that waits for the program like a user's shell, prints
/// its exit code and keeps running, so that all output can be read.
Request in_a_shell(Request request);

}  // namespace attn::test
