// What a model takes of the memory.
#pragma once

#include <cstdint>

#include "compute/matmul.h"
#include "config/model_config.h"

namespace attn {

/// Bytes of the products' weights as they are prepared: four a number, two with Backend::bfloat16
/// (where the CPU multiplies it), one with Backend::int8.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t prepared_bytes(const ModelConfig& config, Backend backend);

/// Bytes that a model takes in memory while it runs: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config, Backend backend);

}  // namespace attn
