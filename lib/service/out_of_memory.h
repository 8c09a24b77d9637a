// What a program says where memory ran out.
#pragma once

#include <exception>

namespace attn {

/// No allocation, no thread, or a size beyond what any allocation can have.
bool is_out_of_memory(const std::exception& error);

}  // namespace attn
