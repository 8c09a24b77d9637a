// The peak speed of a core: the multiply-adds of its widest registers, without waiting for memory.
#pragma once

namespace attn {

/// Floating-point operations a second of one core, in thousand millions, a multiply-add being two:
/// the best of several short runs with the instructions that kernels().name stands for. 0 where
/// these have none (portable).
double peak_gflops();

/// The same of integers of 8 bits, with the instructions that int8_kernels().name stands for. 0
/// where they are not measured (portable, NEON without dot products).
double peak_int8_gops();

/// The same of pairs of bfloat16. 0 where the CPU has none, or multiplies tiles (AMX).
double peak_bfloat16_gflops();

}  // namespace attn
