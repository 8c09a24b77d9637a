// Attention maps of a record from outside, checked while they are read.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/at.h"
#include "base/json_reader.h"
#include "record/attention_maps.h"

namespace attn {

/// What the arrays of one kind of attention measure.
struct MapShape {
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t head_dim = 0;
  std::size_t queries = 0;
  std::size_t keys = 0;
};

/// [layer][head] of something that `read` takes.
template <typename Read>
void read_heads(const JsonReader& layers, const MapShape& shape, Read&& read) {
  layers.for_each(shape.layers, "layers",
                  [&](const JsonReader& heads) { heads.for_each(shape.heads, "heads", read); });
}

/// [layer][head][query][key], put at the end of `weights`.
void read_dense(const JsonReader& maps, const MapShape& shape, std::vector<float>& weights);

/// The maps that `owner` has of a kind, with what a pattern left of them (`seen`) and what stands
/// beside them (`approximation`, docs/json.md). In `shape` keys become mixtures, where they are.
AttentionMaps read_maps(const JsonReader& owner, std::string_view kind, MapShape& shape);

// What linformer, performer and lsh have beside their weights, of a record from outside.

/// One kind of attention's `approximation` (docs/json.md). Of linformer the weights are read, too,
/// and the keys of `shape` and `maps` become mixtures.
Approximation read_approximation(const JsonReader& approximation, MapShape& shape,
                                 AttentionMaps& maps);

}  // namespace attn
