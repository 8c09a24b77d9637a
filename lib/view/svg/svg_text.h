// How wide a text will be, without any font at hand: pictures are laid out here and drawn
// elsewhere, by whichever sans-serif font the viewer has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "view/text_output.h"

namespace attn {

enum class FontWeight { regular, bold };

/// Pixels that a printable text takes at this font size, from above: the advances are those of
/// DejaVu Sans, the widest of the fonts that the pictures name.
double text_width(std::string_view text, double font_size, FontWeight weight = FontWeight::regular);

/// The longest beginning of at most `width` pixels; `…` ends it where something was cut.
std::string fit_text(std::string_view text, double font_size, double width);

/// The text on at most `lines` lines of at most `width` pixels, broken at blanks where it has any;
/// `…` ends the last one where something did not fit.
std::vector<std::string> wrap_text(std::string_view text, double font_size, double width,
                                   std::size_t lines);

// Text from outside in XML.

/// Text for XML, in an element or a quoted attribute: marked-up characters escaped; controls,
/// bidirectional marks and line separators spelled out (base/strings/utf8.h, printable); and what
/// XML forbids replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace attn
