// What the weights are before training.
#pragma once

#include <cstdint>

#include "model/parameters.h"

namespace attn {

/// Fills one parameter from the seed (see random_model()); number i depends on the seed, the
/// parameter's name and i alone.
void initialise(const ParameterInfo& info, const ModelConfig& config, std::uint64_t seed);

}  // namespace attn
