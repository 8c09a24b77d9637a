// How much memory there is, and what a model takes of it.
#pragma once

#include <cstdint>
#include <string>

#include "config/model_config.h"

namespace attn {

/// Bytes that a model takes in memory while it runs: parameters and their prepared copies.
/// Saturates at 2⁶⁴ − 1.
std::uint64_t model_bytes(const ModelConfig& config);

/// Bytes this process may still allocate: available memory and its limits (ulimit -v, cgroup).
std::uint64_t available_memory();

/// MemoryError naming both figures where `bytes` is more than available_memory().
void require_memory(std::uint64_t bytes, const std::string& what);

}  // namespace attn
