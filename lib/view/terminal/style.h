// What is known of the terminal that is written to.
#pragma once

namespace attn {

enum class ColorMode { none, shades_256, true_color };

/// Columns; in a narrower window lines are as for this one.
inline constexpr int narrowest_width = 40;

struct TerminalStyle {
  int width = 80;  ///< columns of the window
  int height = 0;  ///< lines of the window; 0: not known, as of a pipe
  ColorMode color = ColorMode::none;
};

}  // namespace attn
