// base/memory.h of a module, whose memory grows to a limit and is never given back.
#include "base/memory.h"

#include <emscripten/heap.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/files.h"

namespace attn {

std::uint64_t available_memory() {
  const auto used = reinterpret_cast<std::uintptr_t>(sbrk(0));
  return emscripten_get_heap_max() - used;
}

void require_memory(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t available = available_memory();
  if (bytes <= available) return;
  throw MemoryError("{} takes about {} of memory, and {} are available; choose smaller sizes", what,
                    human_bytes(static_cast<double>(bytes)),
                    human_bytes(static_cast<double>(available)));
}

void keep_freed_memory() {}

void return_freed_memory() {}

}  // namespace attn
