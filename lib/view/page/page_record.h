// A record as the page holds it: small, and with what the page need not work out again.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// What is much larger than the maps.
struct PageDetail {
  bool vectors = false;  ///< queries, keys and values, and the way of each token
  bool search = false;   ///< what a beam search looked at, with its maps
};

/// The record (docs/json.md) with its maps packed (packed_maps.h), without what `detail` leaves out
/// and without the alignment's table, which no view shows. Beside each sequence of tokens stands
/// `ends`: where its words end (record/words.h), counted in pieces; without any mark of a word's
/// beginning every piece is a word. So it does in the nodes of a search, for what was written up to
/// each. `best` of a hypothesis are the heads that align best (best_heads), [[layer,head],…].
/// All other keys pass. InputError where the line is no JSON; its shape is record_shape's business:
/// what is not there is left out.
std::string page_record(std::string_view line, PageDetail detail);

/// best_heads() of figures of all heads as JSON (head_report_json): [[layer,head],…].
std::string page_best_heads(std::string_view heads);

}  // namespace attn
