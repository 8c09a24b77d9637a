// How far a token sees, as a picture.
#pragma once

#include <string>

#include "record/receptive_field.h"

namespace attn {

/// Blocks of a picture's side, at most.
inline constexpr int most_receptive_side = 256;

/// The whole file: rows see, columns are seen, the darker the earlier. `model` is a quiet line on
/// whose layers they are.
std::string receptive_svg(const ReceptiveField& field, const std::string& model);

}  // namespace attn
