// The peak speed of a core: the multiply-adds of its widest registers, without waiting for memory.
#pragma once

namespace attn {

/// Returns the floating-point operations per second of one core, in billions, counting a
/// multiply-add as two: the best of several short runs with the instructions that kernels().name
/// stands for. 0 if these have none (portable).
double peak_gflops();

/// Returns the same for 8-bit integers, with the instructions that int8_kernels().name stands for.
/// 0 if they are not measured (portable, NEON without dot products).
double peak_int8_gops();

/// Returns the same for pairs of bfloat16. 0 if the CPU has none, or multiplies tiles (AMX).
double peak_bfloat16_gflops();

}  // namespace attn
