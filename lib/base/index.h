// The type of every size and index, the same as Eigen's. This header does not include Eigen,
// because the kernel files are compiled for newer CPUs and must not instantiate code that other
// files share.
#pragma once

#include <cstddef>

namespace attn {

using Index = std::ptrdiff_t;

}  // namespace attn
