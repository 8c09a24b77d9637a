// SVG to PNG, drawn by librsvg and cairo. A library of its own, so that the views need neither.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// Limits, checked before anything is allocated.
inline constexpr int max_png_side = 32767;              ///< pixels, cairo's own limit
inline constexpr long long max_png_pixels = 100000000;  ///< 400 MB while drawing
inline constexpr double min_png_scale = 0.1;
inline constexpr double max_png_scale = 20;

/// UsageError where the scale is outside min_png_scale … max_png_scale, or no number.
void check_png_scale(double scale);

/// The picture as a PNG file: `scale` pixels for each pixel of the SVG (rounded up to whole ones),
/// 8-bit RGB, drawn on white as a light viewer does, with the resolution (96 · scale dots an inch)
/// and no time stamp: the same SVG and fonts give the same bytes. Fonts are the system's
/// (fontconfig). InputError where `svg` is not an SVG with a size of its own, or where the picture
/// would exceed the limits above; MemoryError where it does not fit in memory; SystemError where
/// librsvg is not installed or finds no font that it can use.
std::string svg_to_png(std::string_view svg, double scale);

// SVG to PDF, drawn by librsvg and cairo: vectors and text, with the letters of the fonts in it.

/// Points a side that every reader of PDF shows: 200 inches.
inline constexpr double max_pdf_side = 14400;

/// The picture as a PDF of one page of its own size (a pixel of the SVG is 3/4 point), with no time
/// stamp: the same SVG and fonts give the same bytes. Fonts are the system's (fontconfig), and what
/// is used of them is in the file. InputError where `svg` is not an SVG with a size of its own, or
/// larger than max_pdf_side; MemoryError where it does not fit in memory; SystemError where
/// librsvg is not installed or finds no font that it can use.
std::string svg_to_pdf(std::string_view svg);

}  // namespace attn
