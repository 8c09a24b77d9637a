// What a core can do at most: the fused multiply-adds of its widest registers, with nothing to wait
// for.
#pragma once

namespace attn {

/// Floating-point operations a second of one core, in thousand millions, a multiply-add being two:
/// the best of several short runs with the instructions that kernels().name stands for. 0 where
/// these have none (portable).
double peak_gflops();

}  // namespace attn
