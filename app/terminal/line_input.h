// Lines typed at a terminal.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files/descriptor.h"
#include "terminal/console.h"

namespace attn {

/// Reads lines with the prompt "> ". If the terminal supports it (TERM) and libedit is installed,
/// lines can be edited: arrows, words, Ctrl-A and Ctrl-E, and history by the up arrow and Ctrl-R.
/// The history is lost when the program ends. Ctrl-D on an empty line ends the input; Ctrl-C ends
/// the program.
class Prompt {
 public:
  Prompt();
  ~Prompt();
  Prompt(const Prompt&) = delete;
  Prompt& operator=(const Prompt&) = delete;

  /// Returns the next line; nothing at the end.
  std::optional<LineReader::Line> next();

 private:
  class Editor;
  std::unique_ptr<Editor> editor_;  ///< null: lines come from the terminal unedited
  LineReader reader_;
};

/// Restores the terminal's settings from before editing. Safe in a signal handler.
void restore_terminal() noexcept;

// The input of translate if its command line has no sentence.

/// Lines of a file, of a pipe, or typed at a terminal.
class LineSource {
 public:
  using Lines = std::vector<LineReader::Line>;

  /// True if this names stdin: empty or "-".
  static bool names_stdin(const std::string& input) { return input.empty() || input == "-"; }

  /// The kinds of markup to expect. HTML must not be taken for a test set, because some begin
  /// alike.
  enum class Markup { test_sets, html };

  /// Opens `input` unless it names stdin. If it is a test set (text/test_set), reads it whole, for
  /// its source. Throws InputError or SystemError if that fails.
  explicit LineSource(const std::string& input, Markup markup = Markup::test_sets);

  bool is_stdin() const { return !file_; }
  /// Returns "stdin" or the file's name in printable form.
  const std::string& name() const { return name_; }

  /// Passes lines to `action`, at most `batch` at a time, until the end; returns their number.
  /// Shows progress unless input comes from a terminal. On a terminal, says that it waits for
  /// input, and prompts if output goes there too. Throws InputError if the first line is UTF-16.
  std::size_t for_each(std::size_t batch, const std::function<void(const Lines&)>& action);

 private:
  std::size_t read_prompt(const std::function<void(const Lines&)>& action) const;
  std::size_t read_test_set(std::size_t batch,
                            const std::function<void(const Lines&)>& action) const;
  void take_test_set(LineReader& reader, std::string first_line);
  std::size_t read(LineReader reader, std::size_t batch,
                   const std::function<void(const Lines&)>& action);

  std::optional<FileDescriptor> file_;
  std::string name_ = "stdin";
  Markup markup_;
  std::optional<std::vector<std::string>> test_set_;  ///< the lines of its source
};

}  // namespace attn
