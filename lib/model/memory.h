// What a model takes of the memory.
#pragma once

#include <cstdint>

#include "config/model_config.h"

namespace attn {

/// Bytes that a model takes in memory while it runs: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config);

}  // namespace attn
