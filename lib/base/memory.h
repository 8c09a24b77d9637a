// What memory is left, asked before much of it is taken.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

/// Bytes this process may still allocate: available memory and its limits (ulimit -v, cgroup).
std::uint64_t available_memory();

/// MemoryError naming both figures where `bytes` is more than available_memory().
void require_memory(std::uint64_t bytes, const std::string& what);

/// What is freed from now on stays with the process for what it asks next: for batches, each of
/// which would else have megabytes of pages cleared for its keys and logits and given back.
void keep_freed_memory();

/// What was freed goes back to the system: after the reading of a model, a megabyte of JSON.
void return_freed_memory();

}  // namespace attn
