// The type of every size and index (Eigen's own). In a header without Eigen, because the kernel
// files, whose functions need newer CPUs, must not instantiate code that others share.
#pragma once

#include <cstddef>

namespace attn {

using Index = std::ptrdiff_t;

}  // namespace attn
