#include "base/error.h"
#include "base/files/files.h"
#include "base/memory.h"

namespace attn {

void require_memory(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t available = available_memory();
  if (bytes <= available) return;
  throw MemoryError("{} takes about {} of memory, and {} are available; choose smaller sizes", what,
                    human_bytes(static_cast<double>(bytes)),
                    human_bytes(static_cast<double>(available)));
}

}  // namespace attn
