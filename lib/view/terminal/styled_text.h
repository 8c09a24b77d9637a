// What is known of the terminal that is written to.
#pragma once

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

}  // namespace attn
