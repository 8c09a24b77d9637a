// Estimates text widths without a font: pictures are laid out here, but drawn elsewhere with the
// viewer's sans-serif font.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/text_output.h"

namespace attn {

enum class FontWeight { regular, bold };

/// Returns an upper estimate in pixels of a printable text's width at this font size. The advances
/// are those of DejaVu Sans, the widest of the fonts that the pictures name.
double text_width(std::string_view text, double font_size, FontWeight weight = FontWeight::regular);

/// Returns the longest prefix of at most `width` pixels; it ends with `…` if the text was cut.
std::string fit_text(std::string_view text, double font_size, double width);

/// Wraps the text at spaces, if it has any, into at most `lines` lines of at most `width` pixels.
/// The last line ends with `…` if the text did not fit.
std::vector<std::string> wrap_text(std::string_view text, double font_size, double width,
                                   std::size_t lines);

// Text from outside in XML.

/// Returns the text for use in an XML element or a quoted attribute. Markup characters are escaped;
/// control characters, bidirectional marks and line separators are spelled out
/// (base/strings/utf8.h, printable); characters that XML forbids become U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace attn
