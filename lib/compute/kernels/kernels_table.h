// The tables of kernels as constant data: what defines one runs no code at start, whatever the CPU.
// kernels.cpp decides which of them this CPU may be given.
#pragma once

#include "compute/kernels/kernels.h"

namespace attn {

extern const Kernels portable_table;
extern const Kernels avx2_table;    // x86-64
extern const Kernels avx512_table;  // x86-64
extern const Kernels neon_table;    // arm64

}  // namespace attn
