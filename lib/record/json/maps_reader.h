// Reads and checks the attention maps of a record from outside.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/at.h"
#include "base/json_reader.h"
#include "record/attention_maps.h"

namespace attn {

/// The array sizes of one attention site.
struct MapShape {
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t head_dim = 0;
  std::size_t queries = 0;
  std::size_t keys = 0;
};

/// Reads [layer][head] and calls `read` for each entry.
template <typename Read>
void read_heads(const JsonReader& layers, const MapShape& shape, Read&& read) {
  layers.for_each(shape.layers, "layers",
                  [&](const JsonReader& heads) { heads.for_each(shape.heads, "heads", read); });
}

/// Appends [layer][head][query][key] to `weights`.
void read_dense(const JsonReader& maps, const MapShape& shape, std::vector<float>& weights);

/// Reads the maps of one site in `owner`, with the cells of a pattern (`seen`) and the data of an
/// approximation (`approximation`, docs/json.md). If the keys are mixtures, updates `shape` to
/// their number.
AttentionMaps read_maps(const JsonReader& owner, std::string_view kind, MapShape& shape);

// Reads the data of linformer, performer and lsh besides their weights from a record from outside.

/// Reads the `approximation` of one site (docs/json.md). For linformer it also reads the weights,
/// and updates the keys of `shape` and `maps` to the mixtures.
Approximation read_approximation(const JsonReader& approximation, MapShape& shape,
                                 AttentionMaps& maps);

}  // namespace attn
