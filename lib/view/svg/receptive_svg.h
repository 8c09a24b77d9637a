// How far a token sees, as a picture.
#pragma once

#include <string>

#include "record/receptive_field.h"

namespace attn {

/// Blocks of a picture's side, at most.
inline constexpr int max_receptive_svg_blocks = 256;

/// The whole file: rows see, columns are seen, the darker the earlier. `model` is a quiet line on
/// whose layers they are.
std::string receptive_field_svg(const ReceptiveField& field, const std::string& model);

}  // namespace attn
