// base/memory.h of a module, whose memory grows to a limit and is never given back.
#include "base/memory.h"

#include <emscripten/heap.h>
#include <unistd.h>

namespace attn {

std::uint64_t available_memory() {
  const auto used = reinterpret_cast<std::uintptr_t>(sbrk(0));
  return emscripten_get_heap_max() - used;
}

void keep_freed_memory() {}

void return_freed_memory() {}

}  // namespace attn
