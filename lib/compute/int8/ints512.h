// The common part of the int8 kernels for AVX-512 with and without VNNI; included only by these two
// files, between their pragmas, before and after they define Ints.
#pragma once

#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

struct Bytes {
  __m512i v;

  static Bytes load(const std::int8_t* from) { return {_mm512_loadu_si512(from)}; }
};

/// Broadcasts four bytes of a row to sixteen columns.
inline __m512i four_bytes(const std::int8_t* x) {
  int four = 0;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

struct Floats {
  __m512 v;

  static Floats load(const float* from) { return {_mm512_loadu_ps(from)}; }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
};

inline Floats operator+(Floats a, Floats b) {
  return {_mm512_add_ps(a.v, b.v)};
}

inline Floats scaled(__m512i sums, float row_scale, const float* scales) {
  const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(row_scale), _mm512_loadu_ps(scales));
  return {_mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale)};
}

constexpr std::size_t kRegisters = 4;  // registers: 24 for sums, 4 for weights,
constexpr std::size_t kInt8Rows = 6;   // up to 4 for x and values derived from it

inline __mmask16 first_lanes(Index n) {
  return n >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1U << n) - 1U);
}

std::uint32_t largest_bits(const float* x, Index n) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i most = _mm512_setzero_si512();
  Index i = 0;
  for (; i + 16 <= n; i += 16) {
    most = _mm512_max_epi32(most, _mm512_and_si512(_mm512_loadu_si512(x + i), magnitude));
  }
  const __m512i rest = _mm512_maskz_loadu_epi32(first_lanes(n - i), x + i);
  most = _mm512_max_epi32(most, _mm512_and_si512(rest, magnitude));
  return static_cast<std::uint32_t>(_mm512_reduce_max_epi32(most));
}

inline __m512i rounded_16(const float* x, __m512 factor) {
  return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_loadu_ps(x), factor));
}

void round_all(const float* x, float factor, Index n, std::int8_t* out) {
  const __m512 factors = _mm512_set1_ps(factor);
  const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  Index i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i low =
        _mm512_packs_epi32(rounded_16(x + i, factors), rounded_16(x + i + 16, factors));
    const __m512i high =
        _mm512_packs_epi32(rounded_16(x + i + 32, factors), rounded_16(x + i + 48, factors));
    const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
    _mm512_storeu_si512(out + i, bytes);
  }
  for (; i < n; i += 16) {
    const __mmask16 lanes = first_lanes(n - i);
    const __m512 numbers = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, x + i), factors);
    _mm512_mask_cvtepi32_storeu_epi8(out + i, lanes, _mm512_cvtps_epi32(numbers));
  }
}

}  // namespace
}  // namespace attn
