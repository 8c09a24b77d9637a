// What is known of the terminal that is written to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Shades for dark terminals, and for light ones: the more, the further from the background.
enum class ColorMode { none, shades_256, true_color, light_shades_256, light_true_color };

inline ColorMode for_light_background(ColorMode mode) {
  if (mode == ColorMode::shades_256) return ColorMode::light_shades_256;
  return mode == ColorMode::true_color ? ColorMode::light_true_color : mode;
}

/// Columns; in a narrower window lines are as for this one.
inline constexpr int min_terminal_width = 40;

struct TerminalStyle {
  int width = 80;  ///< columns of the window
  int height = 0;  ///< lines of the window; 0: not known, as of a pipe
  ColorMode color = ColorMode::none;
};

// How far a cell is from the background: one ramp for colours and one for characters.

/// The escape sequence that paints a cell of this weight, background and foreground both, so that
/// the number is readable whatever the terminal's own colours are; empty for ColorMode::none.
/// Weights beyond 1 get the colour of 1, NaN that of 0. What is negative has warm colours, by its
/// size.
std::string shade_escape(float weight, ColorMode mode);

/// The escape sequence that paints text alone in the cell's colour; empty for ColorMode::none.
std::string text_escape(float weight, ColorMode mode);

/// One column of text that is the fuller the larger the weight is, or its size if it is negative: "
/// ", "░", "▒", "▓" or "█".
std::string_view shade_character(float weight);

// A line of a terminal while it is made.

/// Text with the columns that it takes on a terminal: escape sequences take none.
struct TextLine {
  std::string text;
  int columns = 0;

  void add(std::string_view printable_text);
  void add_escape(std::string_view escape) { text += escape; }
  void add(const TextLine& line);
  /// Blanks up to `target` columns; nothing where the line is as long already.
  void pad_to(int target);
  /// The text without blanks at its end.
  std::string trimmed() const;
};

/// Words on lines of at most `columns` columns where they fit; each line ends with a newline. From
/// the second on, `indent` blanks stand before those columns.
std::string wrap_words(std::string_view text, int columns, int indent = 0);

// A line of figures that drops what a narrow window has no room for.

/// A piece of the line. Where the window is narrow, those of the highest rank go first.
struct StatusPart {
  std::string text;
  int rank;
};

/// The pieces that fit into so many columns, with " · " between them.
std::string fit_to_width(const std::vector<StatusPart>& parts, int columns);

/// "1:05" or "2:03:04".
std::string format_duration(double seconds);

}  // namespace attn
