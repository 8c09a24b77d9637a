// Standard input, output and error as the commands use them.
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

/// The reader of the pipe behind stdout has gone: end quietly.
struct ClosedPipe {};

/// stdout, buffered, with every failure noticed. SystemError for a full disk, ClosedPipe for a
/// reader that left, unless there are other outputs.
class Output {
 public:
  ~Output();
  void write(std::string_view text);
  void flush();

  /// There are other outputs, which are to be finished where the reader leaves: then what stdout
  /// would get is dropped.
  void outlive_reader() { outlives_reader_ = true; }

 private:
  void write_all();

  std::string buffer_;
  bool outlives_reader_ = false;
  bool reader_left_ = false;
};
Output& output();

/// One line on stderr, made printable: "note: …".
void note(std::string_view text);

/// A line for stderr with its end. On a terminal it is wrapped at words.
std::string error_line(std::string_view printable_text);

/// A variable of the environment; empty where it is not set.
std::string_view environment(const char* name);

bool stdin_is_terminal();
bool stdout_is_terminal();
bool stderr_is_terminal();

/// Columns and lines of the terminal's window behind a descriptor; nothing where there is none or
/// it does not say.
std::optional<int> window_width(int descriptor);
std::optional<int> window_height(int descriptor);

/// Whether stdout gets colours: `automatic` is on a terminal that has them, and not with NO_COLOR.
enum class ColorChoice { automatic, always, never };
void choose_color(ColorChoice choice);

/// Size of the window and how much colour it takes (--color, NO_COLOR, TERM, COLORTERM), for
/// stdout. A pipe has the width that COLUMNS says, else 80, and no height.
TerminalStyle terminal_style();

/// The same for what is painted: with the shades that the terminal's background wants.
TerminalStyle painted_style();

/// Lines of stdin or of another input, without waiting longer than needed.
class LineReader {
 public:
  /// `name` begins the messages; the descriptor stays its owner's.
  explicit LineReader(int descriptor = 0, std::string name = "stdin")
      : descriptor_(descriptor), name_(std::move(name)) {}

  static constexpr std::size_t max_line_bytes = (std::size_t{64} << 10) + 4;
  struct Line {
    std::string bytes;        ///< without its line end; at most max_line_bytes of it
    std::size_t dropped = 0;  ///< bytes that were not kept
  };

  /// The next line; nothing at the end of input. Waits for it.
  std::optional<Line> next();

  /// Whether next() would return without waiting.
  bool ready();

  /// The part of a regular file that has been read, from 0 to 1; nothing for pipes.
  std::optional<double> fraction_read() const;

 private:
  bool fill();  ///< reads once more; false at the end
  bool take_line(Line& line);

  int descriptor_;
  std::string name_;
  std::string buffer_;
  std::size_t start_ = 0;    ///< where the next line begins in buffer_
  std::size_t dropped_ = 0;  ///< of the line being read
  std::size_t total_read_ = 0;
  bool end_ = false;
};

// What the libraries note, as lines on stderr.

inline void say(const FieldText& text) {
  note(text.message_for(option_name));
}

inline void note_all(const std::vector<FieldText>& texts) {
  for (const FieldText& text : texts) note(printable(text.message_for(option_name)));
}

// What is behind the terminal's text: maps are painted so that more weight is further from it.

/// Whether the terminal's background is light: as ATTN_DEMO_BACKGROUND says (light or dark;
/// UsageError for another word), else COLORFGBG, else the terminal itself, which is asked once
/// (OSC 11). Dark where nobody says.
bool background_is_light();

}  // namespace attn
