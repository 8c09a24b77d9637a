// Colors for weights: the terminal's color ramp and the pictures share one scale.
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

/// Returns the relative luminance of an sRGB color as WCAG 2 defines it, 0 … 1.
float luminance(const Rgb& color);

/// True if black text has more contrast than white on this background (WCAG 2).
bool wants_black_text(const Rgb& background);

/// Returns the color at `position`, 0 … 1, of a ramp through at least two evenly spaced stops.
Rgb ramp_color(std::span<const Rgb> stops, float position);

/// Maps a weight to its position on the scale, 0 … 1. The square root spreads out the small weights
/// of long sentences. All maps use the same scale, so they can be compared. Weights outside 0 … 1
/// are clamped; NaN becomes 0.
float scale_position(float weight);

/// Number of levels of the pictures' scale, 0 … 100. Each has a color for light viewers and one
/// for dark viewers.
inline constexpr int color_levels = 101;
/// From this level on, the number in a cell is white in light viewers and black in dark ones. The
/// contrast (WCAG 2) is at least 4.5 at every level.
inline constexpr int inverted_text_level = 62;

int color_level(float weight);
Rgb light_color(int level);  ///< lightness only decreases, so the order survives in gray print
Rgb dark_color(int level);   ///< lightness only increases
/// Colors for negative numbers by magnitude: warm, and as light as the positive color of the same
/// level.
Rgb light_negative_color(int level);
Rgb dark_negative_color(int level);

}  // namespace attn
