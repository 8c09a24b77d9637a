// SVG to PDF, drawn by librsvg and cairo: vectors and text, with the letters of the fonts in it.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Points a side that every reader of PDF shows: 200 inches.
inline constexpr double max_pdf_side = 14400;

/// The picture as a PDF of one page of its own size (a pixel of the SVG is 3/4 point), with no time
/// stamp: the same SVG and fonts give the same bytes. Fonts are the system's (fontconfig), and what
/// is used of them is in the file. InputError where `svg` is not an SVG with a size of its own, or
/// larger than max_pdf_side; MemoryError where it does not fit in memory; SystemError where
/// librsvg is not installed or finds no font that it can use.
std::string svg_to_pdf(std::string_view svg);

}  // namespace attn
