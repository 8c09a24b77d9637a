// What the weights are before training.
#pragma once

#include <cstdint>

#include "model/parameters.h"

namespace attn {

/// Fills one parameter from the seed (see random_model()); number i depends on the seed, the
/// parameter's name and i alone.
void initialise(const ParameterInfo& info, const ModelConfig& config, std::uint64_t seed);

/// The same for a model that will be trained. Query, key and value count as the one matrix [D, 3D]
/// that they are, as in PyTorch's MultiheadAttention: their bound is √(6 / 4D), not √(6 / 2D).
/// Scores begin half as large, and a post-norm model finds its alignments sooner.
void initialise_for_training(const ParameterInfo& info, const ModelConfig& config,
                             std::uint64_t seed);

}  // namespace attn
