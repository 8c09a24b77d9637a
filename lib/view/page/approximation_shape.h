// Checks of what linformer, performer and lsh have beside their weights, in a record from outside.
#pragma once

#include "view/page/map_shape.h"

namespace attn {

/// One kind of attention's `approximation` (docs/json.md). Returns how many keys its maps have: the
/// tokens, or linformer's mixtures.
std::size_t check_approximation(const JsonPlace& approximation, const MapShape& shape);

}  // namespace attn
