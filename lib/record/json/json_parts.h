// Pieces of JSON that several documents are made of: each writes one value, or members of an
// object.
#pragma once

#include <span>

#include "base/json_writer.h"
#include "record/attention_record.h"

namespace attn {

/// [layer][head] of what `each(layer, head)` writes.
template <typename Each>
void write_heads(JsonWriter& json, int layers, int heads, Each&& each) {
  json.array_of(layers,
                [&](int layer) { json.array_of(heads, [&](int head) { each(layer, head); }); });
}

/// [row][column], `columns` of the values a row.
template <typename Value>
void write_rows(JsonWriter& json, std::span<const Value> values, int columns) {
  json.array([&] {
    for (std::size_t first = 0; first < values.size(); first += to_size(columns)) {
      json.value(values.subspan(first, to_size(columns)));
    }
  });
}

/// Members: "tokens":[…],"ids":[…]
void write_tokens(JsonWriter& json, const TokenSequence& sequence);

/// What is known of a model.
void write_model(JsonWriter& json, const ModelSummary& model);

/// [layer][head], each an object of figures (docs/json.md).
void write_site_report(JsonWriter& json, const SiteReport& kind);

/// [layer, head] of each.
void write_head_indices(JsonWriter& json, const std::vector<HeadIndex>& places);

/// Members: precision, recall and error rate of links.
void write_alignment_score(JsonWriter& json, const GoldScore& score);

/// A word alignment; `weights`: whether those of all pairs of words are in it. Weights that are not
/// finite are null.
void write_alignment(JsonWriter& json, const WordAlignment& alignment, bool weights);

}  // namespace attn
