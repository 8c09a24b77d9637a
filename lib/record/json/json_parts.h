// Parts of JSON that several documents share: each function writes one value, or members of an
// object.
#pragma once

#include <span>

#include "base/json_writer.h"
#include "record/attention_record.h"

namespace attn {

/// Writes [layer][head] with the values that `each(layer, head)` writes.
template <typename Each>
void write_heads(JsonWriter& json, int layers, int heads, Each&& each) {
  json.array_of(layers,
                [&](int layer) { json.array_of(heads, [&](int head) { each(layer, head); }); });
}

/// Writes [row][column] with `columns` values per row.
template <typename Value>
void write_rows(JsonWriter& json, std::span<const Value> values, int columns) {
  json.array([&] {
    for (std::size_t first = 0; first < values.size(); first += to_size(columns)) {
      json.value(values.subspan(first, to_size(columns)));
    }
  });
}

/// Writes the members "tokens":[…],"ids":[…].
void write_tokens(JsonWriter& json, const TokenSequence& sequence);

/// Writes the properties of a model.
void write_model(JsonWriter& json, const ModelSummary& model);

/// Writes [layer][head], each an object of metrics (docs/json.md).
void write_site_report(JsonWriter& json, const SiteReport& kind);

/// Writes [layer, head] for each head.
void write_head_indices(JsonWriter& json, const std::vector<HeadIndex>& places);

/// Writes the members for precision, recall and error rate of links.
void write_alignment_score(JsonWriter& json, const GoldScore& score);

/// Writes a word alignment; `weights` includes the weights of all pairs of words. Non-finite
/// weights are written as null.
void write_alignment(JsonWriter& json, const WordAlignment& alignment, bool weights);

}  // namespace attn
