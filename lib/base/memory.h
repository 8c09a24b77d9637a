// Checks of the available memory before large allocations. The browser build replaces all functions
// but those of require_memory.cpp (web/system.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <string>

namespace attn {

/// Returns the bytes that this process may still allocate, from the available memory and the
/// process's limits (ulimit -v, cgroup).
std::uint64_t available_memory();

/// Throws MemoryError naming both sizes if `bytes` is more than available_memory().
void require_memory(std::uint64_t bytes, const std::string& what);

/// Makes the process keep freed memory from now on. Otherwise every batch would allocate megabytes
/// of keys and logits as new pages, which the system clears first, and then return them.
void keep_freed_memory();

/// Returns freed memory to the system: used after reading a model, which parses a megabyte of JSON.
void return_freed_memory();

/// Marks a call into SentencePiece, which does not survive std::bad_alloc. If an allocation fails
/// inside the call, the stack must not be unwound: protobuf's destructors would take apart
/// half-built messages (a piece whose string got no memory) and crash or corrupt the heap. The
/// program's new-handler checks `active()` and ends the process itself.
class NoUnwindScope {
 public:
  NoUnwindScope() { ++calls_; }
  ~NoUnwindScope() { --calls_; }
  NoUnwindScope(const NoUnwindScope&) = delete;
  NoUnwindScope& operator=(const NoUnwindScope&) = delete;

  /// True if any thread is inside such a call. The check covers all threads because the library
  /// starts threads of its own.
  static bool active() { return calls_ > 0; }

 private:
  static inline std::atomic<int> calls_{0};
};

/// True if the error means out of memory: a failed allocation, a thread that could not start, or a
/// size that no allocation can have.
bool is_out_of_memory(const std::exception& error);

}  // namespace attn
