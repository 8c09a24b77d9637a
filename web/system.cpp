// base/memory.h for a WebAssembly module, whose memory grows up to a limit and is never released.
#include <emscripten/heap.h>
#include <sched.h>
#include <unistd.h>

#include "base/memory.h"

namespace attn {

std::uint64_t available_memory() {
  const auto used = reinterpret_cast<std::uintptr_t>(sbrk(0));
  return emscripten_get_heap_max() - used;
}

void keep_freed_memory() {}

void return_freed_memory() {}

}  // namespace attn

// The Linux calls with which the libraries count cores; a module without threads has one.
extern "C" {

int sched_getaffinity(pid_t, size_t, cpu_set_t* allowed) {
  CPU_ZERO(allowed);
  CPU_SET(0, allowed);
  return 0;
}

int __sched_cpucount(size_t, const cpu_set_t*) {
  return 1;
}
}
