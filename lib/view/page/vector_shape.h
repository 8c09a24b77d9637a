// Checks of vectors in a record from outside: those of the heads, and those on a token's way.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "view/page/json_place.h"
#include "view/page/map_shape.h"

namespace attn {

/// The query, key and value vectors of one kind of attention.
void check_vectors(const JsonPlace& vectors, const MapShape& shape);

/// Where a way leads through: the blocks of a stack's layers.
struct WayShape {
  std::size_t rows = 0;  ///< tokens
  std::size_t layers = 0;
  std::vector<std::string_view> blocks;
};

/// The vectors of all tokens, stage by stage. A stage inside a block names it and its layer.
void check_way(const JsonPlace& way, const WayShape& shape);

}  // namespace attn
