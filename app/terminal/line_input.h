// Lines that a person types at a terminal.
#pragma once

#include <memory>
#include <optional>

#include "terminal/console.h"

namespace attn {

/// Asks for lines with "> ". Where the terminal can (TERM) and libedit is there, it edits the line:
/// arrows, words, Ctrl-A and Ctrl-E, what was typed before by the up arrow and Ctrl-R. What was
/// typed is forgotten with the program. Ctrl-D on an empty line is the end; Ctrl-C ends the
/// program.
class Prompt {
 public:
  Prompt();
  ~Prompt();
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  /// The next line; nothing at the end.
  std::optional<LineReader::Line> next();

 private:
  class Editor;
  std::unique_ptr<Editor> editor_;  ///< null where lines are taken as the terminal gives them
  LineReader reader_;
};

/// Gives the terminal back as it was before a line was edited. Safe in a signal's handler.
void restore_terminal() noexcept;

}  // namespace attn
