// SVG to PNG, drawn by librsvg and cairo. lib/raster is a separate library, so that the views need
// neither of them.
#pragma once

#include <string>
#include <string_view>

namespace attn {

// Limits that are checked before anything is allocated.
inline constexpr int max_png_side = 32767;              ///< in pixels, cairo's own limit
inline constexpr long long max_png_pixels = 100000000;  ///< 400 MB while drawing
inline constexpr double min_png_scale = 0.1;
inline constexpr double max_png_scale = 20;

/// Throws UsageError if the scale is not a number from min_png_scale to max_png_scale.
void check_png_scale(double scale);

/// Converts an SVG to a PNG file: 8-bit RGB with `scale` pixels per pixel of the SVG (rounded up to
/// whole pixels), drawn on white like a viewer with a light theme. The file states its resolution
/// (96 · scale dots per inch) and has no time stamp, so the same SVG and fonts give the same bytes.
/// Fonts are the system's (fontconfig). Throws InputError if `svg` is not an SVG with a size of its
/// own or the picture would exceed the limits above, MemoryError if it does not fit in memory, and
/// SystemError if librsvg is not installed or finds no usable font.
std::string svg_to_png(std::string_view svg, double scale);

// SVG to PDF, drawn by librsvg and cairo: vector graphics and text, with embedded fonts.

/// The side length in points that every PDF reader can show: 200 inches.
inline constexpr double max_pdf_side = 14400;

/// Converts an SVG to a PDF with one page of the picture's size (a pixel of the SVG is 3/4 point).
/// It has no time stamp, so the same SVG and fonts give the same bytes. Fonts are the system's
/// (fontconfig), and the parts that are used are embedded. Throws InputError if `svg` is not an SVG
/// with a size of its own or larger than max_pdf_side, MemoryError if it does not fit in memory,
/// and SystemError if librsvg is not installed or finds no usable font.
std::string svg_to_pdf(std::string_view svg);

}  // namespace attn
