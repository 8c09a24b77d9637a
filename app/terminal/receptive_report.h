// How far the tokens of a model's encoder see, layer by layer.
#pragma once

#include "config/model_config.h"
#include "record/receptive_field.h"

namespace attn {

/// Tokens of the longest sentence that is looked at: a bit for each pair of them.
inline constexpr int max_receptive_tokens = 16'384;

/// Of sentences of `tokens` tokens, in a picture of at most `side` blocks.
ReceptiveField encoder_receptive_field(const ModelConfig& config, int tokens, int side);

}  // namespace attn
