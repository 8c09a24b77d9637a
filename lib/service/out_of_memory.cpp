#include "service/out_of_memory.h"

#include <new>
#include <stdexcept>
#include <system_error>

namespace attn {

bool is_out_of_memory(const std::exception& error) {
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) {
    return system->code() == std::errc::resource_unavailable_try_again ||
           system->code() == std::errc::not_enough_memory;
  }
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         dynamic_cast<const std::length_error*>(&error) != nullptr;
}

}  // namespace attn
