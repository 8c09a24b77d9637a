// Colours for weights: the terminal's ramp and the pictures' share the scale.
#pragma once

#include <cstddef>
#include <span>

namespace attn {

struct Rgb {
  int red = 0;
  int green = 0;
  int blue = 0;
  bool operator==(const Rgb&) const = default;
};

/// WCAG 2's relative luminance of an sRGB colour, 0 … 1.
float luminance(const Rgb& color);

/// Black stands out more than white on this ground, by WCAG's contrast ratio.
bool wants_black_text(const Rgb& background);

/// The colour at `position`, 0 … 1, of a ramp through evenly spaced stops (at least two).
Rgb ramp_color(std::span<const Rgb> stops, float position);

/// A weight's place on the scale, 0 … 1. The square root spreads the small weights of long
/// sentences, and the scale is the same in all maps so that they can be compared. Weights outside
/// 0 … 1 are at the nearer end, and NaN is at 0.
float scale_position(float weight);

/// The pictures' scale has levels 0 … 100, each with one colour in light and one in dark viewers.
inline constexpr int color_levels = 101;
/// From this level on, a number in the cell is white in light viewers and black in dark ones; the
/// contrast (WCAG 2) is 4.5 or more at every level.
inline constexpr int inverted_text_level = 62;

int color_level(float weight);
Rgb light_color(int level);  ///< lightness only falls: the order survives in grey print
Rgb dark_color(int level);   ///< lightness only grows
/// Of negative numbers, by their size: warm colours as light as the others of the level.
Rgb light_negative_color(int level);
Rgb dark_negative_color(int level);

}  // namespace attn
