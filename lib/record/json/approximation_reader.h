// What linformer, performer and lsh have beside their weights, of a record from outside.
#pragma once

#include "record/json/maps_reader.h"

namespace attn {

/// One kind of attention's `approximation` (docs/json.md). Of linformer the weights are read, too,
/// and the keys of `shape` and `maps` become mixtures.
Approximation read_approximation(const JsonReader& approximation, MapShape& shape,
                                 AttentionMaps& maps);

}  // namespace attn
