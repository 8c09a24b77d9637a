// The common part of the AVX2 and AVX-VNNI int8 kernels; included only by these two files, between
// their pragmas.
#pragma once

#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

struct Bytes {
  __m256i v;

  static Bytes load(const std::int8_t* from) {
    return {_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))};
  }
};

/// Broadcasts four bytes of a row to eight columns.
inline __m256i four_bytes(const std::int8_t* x) {
  int four = 0;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm256_set1_epi32(four);
}

struct Floats {
  __m256 v;

  static Floats load(const float* from) { return {_mm256_loadu_ps(from)}; }
  void store(float* to) const { _mm256_storeu_ps(to, v); }
};

inline Floats operator+(Floats a, Floats b) {
  return {_mm256_add_ps(a.v, b.v)};
}

inline Floats scaled(__m256i sums, float row_scale, const float* scales) {
  const __m256 scale = _mm256_mul_ps(_mm256_set1_ps(row_scale), _mm256_loadu_ps(scales));
  return {_mm256_mul_ps(_mm256_cvtepi32_ps(sums), scale)};
}

constexpr std::size_t kRegisters = 4;

}  // namespace
}  // namespace attn
