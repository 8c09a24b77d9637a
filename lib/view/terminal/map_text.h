// Attention maps on a terminal: a grid with the tokens on both axes, weights to two decimals, cells
// shaded by weight, wide maps folded to the window.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "record/attention_record.h"
#include "record/shown_maps.h"
#include "view/terminal/style.h"

namespace attn {

/// The chosen maps of one hypothesis (and the encoder's) as text, in their order, each headed by
/// one line saying which kind, layer and head it is. Ends with a newline where anything was drawn.
/// No line is wider than the window, or than 40 columns in a narrower one. Without that hypothesis
/// in the record, only the encoder's maps are drawn.
std::string render_maps(const AttentionRecord& record, std::size_t hypothesis,
                        const std::vector<ShownMaps>& shown, const TerminalStyle& style);

}  // namespace attn
