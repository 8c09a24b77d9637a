// The common part of the int8 kernels for arm64 with and without dot products; included only by
// these two files.
#pragma once

#include <arm_neon.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

struct Bytes {
  int8x16_t v;

  static Bytes load(const std::int8_t* from) { return {vld1q_s8(from)}; }
};

/// Four numbers of a row, broadcast to four columns.
struct Row {
  static constexpr Index kBytes = kInt8Group;
  int8x16_t v;

  static Row load(const std::int8_t* x) {
    std::int32_t four = 0;
    __builtin_memcpy(&four, x, sizeof four);
    return {vreinterpretq_s8_s32(vdupq_n_s32(four))};
  }

  static std::int32_t pack(const std::int8_t*, Index, std::int8_t*) {
    return 0;
  }  ///< already in place
};

struct Floats {
  float32x4_t v;

  static Floats load(const float* from) { return {vld1q_f32(from)}; }
  void store(float* to) const { vst1q_f32(to, v); }
};

inline Floats operator+(Floats a, Floats b) {
  return {vaddq_f32(a.v, b.v)};
}

inline Floats scaled(int32x4_t sums, float row_scale, const float* scales) {
  const float32x4_t scale = vmulq_n_f32(vld1q_f32(scales), row_scale);
  return {vmulq_f32(vcvtq_f32_s32(sums), scale)};
}

constexpr std::size_t kRegisters = 4;

}  // namespace
}  // namespace attn
