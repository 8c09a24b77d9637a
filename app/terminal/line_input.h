// Lines that a person types at a terminal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/descriptor.h"
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

// Where the lines come from that translate has no sentence for on its command line.

/// Lines of a file, of a pipe, or of a person at a terminal.
class LineSource {
 public:
  using Lines = std::vector<LineReader::Line>;

  /// Whether this names stdin: nothing, or "-".
  static bool names_stdin(const std::string& input) { return input.empty() || input == "-"; }

  /// Opens `input`, where that does not name stdin. InputError or SystemError where that is
  /// refused.
  explicit LineSource(const std::string& input);

  bool is_stdin() const { return !file_; }
  /// "stdin", or the file as it can be printed.
  const std::string& name() const { return name_; }

  /// Hands lines to `action`, at most `batch` at a time, until there are no more, with progress
  /// where nobody types; how many lines there were. On a terminal it says what it waits for, and
  /// asks with a prompt where answers go there, too. InputError for a first line in UTF-16.
  std::size_t for_each(std::size_t batch, const std::function<void(const Lines&)>& action);

 private:
  std::size_t read_prompt(const std::function<void(const Lines&)>& action) const;
  std::size_t read(LineReader reader, std::size_t batch,
                   const std::function<void(const Lines&)>& action) const;

  std::optional<FileDescriptor> file_;
  std::string name_ = "stdin";
};

}  // namespace attn
