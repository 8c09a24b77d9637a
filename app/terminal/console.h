// Standard input, output and error as used by the commands.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Thrown if the reader of the pipe behind stdout is gone: exit quietly.
struct ClosedPipe {};

/// Buffered stdout that checks every write. Throws SystemError for a full disk, and ClosedPipe if
/// the reader is gone, unless there are other outputs.
class Output {
 public:
  ~Output();
  void write(std::string_view text);
  void flush();

  /// Call this if there are other outputs to finish: then stdout's text is dropped once its reader
  /// is gone.
  void outlive_reader() { outlives_reader_ = true; }

 private:
  void write_all();

  std::string buffer_;
  bool outlives_reader_ = false;
  bool reader_left_ = false;
};
Output& output();

/// Prints one line on stderr, made printable: "note: …".
void note(std::string_view text);

/// Returns a line for stderr with its line end, wrapped at words on a terminal.
std::string error_line(std::string_view printable_text);

/// Returns an environment variable; empty if it is not set.
std::string_view environment(const char* name);

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

/// Returns the columns and lines of the terminal window behind a descriptor; nothing if there is no
/// terminal or its size is unknown.
std::optional<int> window_width(int descriptor);
std::optional<int> window_height(int descriptor);

/// Controls color on stdout: `automatic` colors on terminals that support it, unless NO_COLOR is
/// set.
enum class ColorChoice { automatic, always, never };
void choose_color(ColorChoice choice);

/// Returns stdout's window size and color support (--color, NO_COLOR, TERM, COLORTERM). A pipe has
/// the width in COLUMNS, else 80, and no height.
TerminalStyle terminal_style();

/// Same for painted maps: also includes shades that suit the terminal's background.
TerminalStyle painted_style();

/// Reads lines from stdin or another input without waiting longer than needed.
class LineReader {
 public:
  /// `name` begins messages; the caller keeps ownership of the descriptor.
  explicit LineReader(int descriptor = 0, std::string name = "stdin")
      : descriptor_(descriptor), name_(std::move(name)) {}

  static constexpr std::size_t max_line_bytes = (std::size_t{64} << 10) + 4;
  struct Line {
    std::string bytes;        ///< without line end; at most max_line_bytes
    std::size_t dropped = 0;  ///< bytes that were not kept
  };

  /// Waits for the next line and returns it; nothing at the end of input.
  std::optional<Line> next();

  /// True if next() would return without waiting.
  bool ready();

  /// Returns the fraction of a regular file that has been read, from 0 to 1; nothing for pipes.
  std::optional<double> fraction_read() const;

 private:
  bool fill();  ///< reads more; false at the end
  bool take_line(Line& line);

  int descriptor_;
  std::string name_;
  std::string buffer_;
  std::size_t start_ = 0;    ///< start of the next line in buffer_
  std::size_t dropped_ = 0;  ///< in the current line
  std::size_t total_read_ = 0;
  bool end_ = false;
};

// Notes of the libraries, as lines on stderr.

inline void say(const FieldText& text) {
  note(text.message_for(option_name));
}

inline void note_all(const std::vector<FieldText>& texts) {
  for (const FieldText& text : texts) note(printable(text.message_for(option_name)));
}

// The terminal's background: maps are painted so that higher weights contrast more with it.

/// True if the terminal's background is light. The sources are ATTN_DEMO_BACKGROUND (light or dark;
/// UsageError for another word), then COLORFGBG, then the terminal itself, which is queried once
/// (OSC 11). The default is dark.
bool background_is_light();

}  // namespace attn
