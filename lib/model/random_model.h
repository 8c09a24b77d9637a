// What the weights are before training.
#pragma once

#include <cstdint>

#include "model/parameters.h"
#include "model/transformer.h"

namespace attn {

/// A model with weights made from the seed (see random.h): projections uniform within
/// √(6 / (in + out)) (Glorot and Bengio 2010), embeddings with variance 1/D and the pad row zero,
/// biases 0, norms 1 and 0, final_logits_bias 0 and −1e4 for pad. MemoryError where it would not
/// fit.
Transformer random_model(const ModelConfig& config, std::uint64_t seed, Backend backend);

/// Fills one parameter of a model that will be trained: as random_model() does, number i from the
/// seed, the parameter's name and i alone. But query, key and value count as the one matrix [D, 3D]
/// that they are, as in PyTorch's MultiheadAttention: their bound is √(6 / 4D), not √(6 / 2D).
/// Scores begin half as large, and a post-norm model finds its alignments sooner.
void initialise_for_training(const ParameterInfo& info, const Parameter& parameter,
                             const ModelConfig& config, std::uint64_t seed);

}  // namespace attn
