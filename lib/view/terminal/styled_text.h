// Properties of the terminal that output goes to.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Color modes for dark and for light terminals: a larger weight is further from the background.
enum class ColorMode { none, shades_256, true_color, light_shades_256, light_true_color };

inline ColorMode for_light_background(ColorMode mode) {
  if (mode == ColorMode::shades_256) return ColorMode::light_shades_256;
  return mode == ColorMode::true_color ? ColorMode::light_true_color : mode;
}

/// Minimum width in columns; narrower windows get lines of this width.
inline constexpr int min_terminal_width = 40;

struct TerminalStyle {
  int width = 80;  ///< columns of the window
  int height = 0;  ///< lines of the window; 0: unknown, for example in a pipe
  ColorMode color = ColorMode::none;
};

// Shading of cells: one ramp of colors and one of characters.

/// Returns the escape sequence for a cell of this weight. It sets background and foreground, so
/// that the number is readable whatever the terminal's own colors are; empty for ColorMode::none.
/// Weights above 1 get the color of 1, NaN that of 0. Negative weights get warm colors by
/// magnitude.
std::string shade_escape(float weight, ColorMode mode);

/// Returns the escape sequence that gives only the text the cell's color; empty for
/// ColorMode::none.
std::string text_escape(float weight, ColorMode mode);

/// Returns one column of text, fuller the larger the weight's magnitude: " ", "░", "▒", "▓" or "█".
std::string_view shade_character(float weight);

// Building one line of terminal output.

/// Text and its width in terminal columns; escape sequences have width 0.
struct TextLine {
  std::string text;
  int columns = 0;

  void add(std::string_view printable_text);
  void add_escape(std::string_view escape) { text += escape; }
  void add(const TextLine& line);
  /// Appends spaces up to `target` columns; does nothing if the line is already as long.
  void pad_to(int target);
  /// Returns the text without trailing spaces.
  std::string trimmed() const;
};

/// Wraps words into lines of at most `columns` columns where they fit; each line ends with a
/// newline. Lines after the first are indented by `indent` spaces, which do not count towards
/// `columns`.
std::string wrap_words(std::string_view text, int columns, int indent = 0);

// A status line that drops parts which do not fit into a narrow window.

/// A part of the line. In a narrow window, parts with the highest rank are dropped first.
struct StatusPart {
  std::string text;
  int rank;
};

/// Returns the parts that fit into `columns`, separated by " · ".
std::string fit_to_width(const std::vector<StatusPart>& parts, int columns);

/// Formats a duration as "1:05" or "2:03:04".
std::string format_duration(double seconds);

}  // namespace attn
