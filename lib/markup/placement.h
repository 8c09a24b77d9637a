// Markup put back into a translation, by the word alignment.
//
// Each word of the translation belongs to the elements of the source word that it was translated
// from. As in Bergamot's translator (https://github.com/browsermt/bergamot-translator, html.cpp),
// but there an element whose words are apart in the translation is written several times. Here each
// tag is written once: an element gets the run of words in which most of its own and fewest others
// are. Elements stay inside their parents and beside their siblings, whatever the alignment.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "markup/marked_text.h"

namespace attn {

/// Bytes of a translation and the bytes of the source that they were translated from.
struct AlignedSpan {
  std::size_t target_begin = 0, target_end = 0;
  std::size_t source_begin = 0, source_end = 0;
  float weight = 0;
};

/// Returns the translation of a segment's text with the segment's markup, escaped if that is HTML.
/// Every item is in it once. Without them it is the translation, except for spaces beside
/// placeholders and for whitespace that was a line break or a no-break space in the source.
/// Accepts any alignment; words that it lacks are placed beside their neighbors.
std::string place_markup(const MarkedSegment& segment, std::string_view translation,
                         std::span<const AlignedSpan> alignment);

}  // namespace attn
