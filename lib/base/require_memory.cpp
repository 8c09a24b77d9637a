#include <new>
#include <stdexcept>
#include <system_error>

#include "base/error.h"
#include "base/files/files.h"
#include "base/memory.h"

namespace attn {

void require_memory(std::uint64_t bytes, const std::string& what) {
  const std::uint64_t available = available_memory();
  if (bytes <= available) return;
  throw MemoryError("{} needs about {} of memory, and {} is available; choose smaller sizes", what,
                    human_bytes(static_cast<double>(bytes)),
                    human_bytes(static_cast<double>(available)));
}

bool is_out_of_memory(const std::exception& error) {
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return system->code() == std::errc::resource_unavailable_try_again ||
           system->code() == std::errc::not_enough_memory;
  }
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::length_error*>(&error) != nullptr;
}

}  // namespace attn
