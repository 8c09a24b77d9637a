// What memory is left, asked before much of it is taken. A browser's module has
// functions of its own for all but require_memory.cpp (web/system.cpp).
#pragma once

#include <cstdint>
#include <string>

namespace attn {

/// Bytes this process may still allocate: available memory and its limits (ulimit -v, cgroup).
std::uint64_t available_memory();

/// MemoryError naming both figures where `bytes` is more than available_memory().
void require_memory(std::uint64_t bytes, const std::string& what);

/// From now on freed memory stays with the process. Otherwise each batch would get its megabytes of
/// keys and logits as new pages, which the system clears first, and give them back.
void keep_freed_memory();

/// What was freed goes back to the system: after the reading of a model, a megabyte of JSON.
void return_freed_memory();

}  // namespace attn
