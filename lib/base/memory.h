// What memory is left, asked before much of it is taken. A browser's module has
// functions of its own for all but require_memory.cpp (web/system.cpp).
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
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

// Calls into libraries that do not survive std::bad_alloc.

/// Lives around a call into SentencePiece. Where an allocation fails in there, the stack must not
/// be unwound: protobuf's destructors take messages apart that are not yet put together (a piece
/// whose string got no memory), and crash or spoil the heap. The program's handler of failed
/// allocations asks `active()` and ends the process itself.
class NoUnwindScope {
 public:
  NoUnwindScope() { ++calls_; }
  ~NoUnwindScope() { --calls_; }
  NoUnwindScope(const NoUnwindScope&) = delete;
  NoUnwindScope& operator=(const NoUnwindScope&) = delete;

  /// Whether any thread is in such a call; the library's own threads work for it.
  static bool active() { return calls_ > 0; }

 private:
  static inline std::atomic<int> calls_{0};
};

// What a program says where memory ran out.

/// No allocation, no thread, or a size beyond what any allocation can have.
bool is_out_of_memory(const std::exception& error);

}  // namespace attn
