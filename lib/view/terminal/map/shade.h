// How far a cell is from the background: one ramp for colours and one for characters.
#pragma once

#include <string>
#include <string_view>

#include "view/terminal/styled_text.h"

namespace attn {

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

}  // namespace attn
