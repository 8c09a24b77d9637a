// What the page is told besides a record, so that it need not work it out again.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Of a record as JSON: {"source":[…],"hypotheses":[{"tokens":[…],"input":[…],"best":[[layer,
/// head],…]}],"nodes":[[…],…]}. The words (record/words.h) of each sequence are told by where they
/// end, counted in pieces; without any mark of a word's beginning every piece is a word. `input` is
/// the decoder's; `nodes` are the search's, each with what was written up to it. `best` are the
/// heads that align best (best_heads). Where the record lacks something or is no JSON, so does
/// this.
std::string page_notes(std::string_view record);

/// best_heads() of figures of all heads as JSON (head_report_json): [[layer,head],…].
std::string page_best_heads(std::string_view heads);

}  // namespace attn
