// What the 8-bit kernels of arm64 with and without dot products share; included by those two files
// alone.
#pragma once

#include <arm_neon.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

struct Bytes {
  int8x16_t v;

  static Bytes load(const std::int8_t* from) { return {vld1q_s8(from)}; }
};

/// Four numbers of a row, for four columns.
struct Row {
  int8x16_t v;

  static Row load(const std::int8_t* x) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, x, sizeof four);
    return {vreinterpretq_s8_s32(vdupq_n_s32(four))};
  }
};

inline void store_floats(int32x4_t sums, float row_scale, const float* scales, float* out) {
  const float32x4_t scale = vmulq_n_f32(vld1q_f32(scales), row_scale);
  vst1q_f32(out, vmulq_f32(vcvtq_f32_s32(sums), scale));
}

constexpr std::size_t kRegisters = 4;

}  // namespace
}  // namespace attn
