// Checks of attention maps in a record from outside: dense ones, and what a pattern left of them.
#pragma once

#include <cstddef>
#include <string_view>

#include "view/page/json_place.h"

namespace attn {

/// What the arrays of one kind of attention measure.
struct MapShape {
  std::size_t layers = 0;
  std::size_t heads = 0;
  std::size_t head_dim = 0;
  std::size_t queries = 0;
  std::size_t keys = 0;
};

/// `width` numbers; `of` says what they are ("weights, one a key").
void check_numbers(const JsonPlace& row, std::size_t width, std::string_view of);

/// [layer][head] of something that `check` looks at.
template <typename Check>
void check_heads_of(const JsonPlace& layers, const MapShape& shape, Check&& check) {
  layers.array(shape.layers, "layers");
  for (std::size_t layer = 0; layer < shape.layers; ++layer) {
    const JsonPlace heads = layers[layer];
    heads.array(shape.heads, "heads");
    for (std::size_t head = 0; head < shape.heads; ++head) check(heads[head]);
  }
}

/// [layer][head][query][key]
void check_maps(const JsonPlace& maps, const MapShape& shape);

/// What a pattern left of one kind's maps (`seen` in docs/json.md); `maps` are the dense ones,
/// which are empty where they are large.
void check_seen(const JsonPlace& seen, const JsonPlace& maps, const MapShape& shape);

}  // namespace attn
