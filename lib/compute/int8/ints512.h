// What the 8-bit kernels of AVX-512 with and without VNNI share; included by those two files alone,
// between their pragmas, before and after they define Ints.
#pragma once

#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

struct Bytes {
  __m512i v;

  static Bytes load(const std::int8_t* from) { return {_mm512_loadu_si512(from)}; }
};

/// Four numbers of a row, for sixteen columns.
inline __m512i four_numbers(const std::int8_t* x) {
  int four = 0;
  __builtin_memcpy(&four, x, sizeof four);
  return _mm512_set1_epi32(four);
}

inline void store_floats(__m512i sums, float row_scale, const float* scales, float* out) {
  const __m512 scale = _mm512_mul_ps(_mm512_set1_ps(row_scale), _mm512_loadu_ps(scales));
  _mm512_storeu_ps(out, _mm512_mul_ps(_mm512_cvtepi32_ps(sums), scale));
}

constexpr std::size_t kRegisters = 4;  // 24 registers of sums, 4 of weights,
constexpr std::size_t kInt8Rows = 6;   // and up to 4 of x and what is made of it

inline __mmask16 first_lanes(Index n) {
  return n >= 16 ? static_cast<__mmask16>(0xffff) : static_cast<__mmask16>((1U << n) - 1U);
}

std::uint32_t largest_bits(const float* x, Index n) {
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i most = _mm512_setzero_si512();
  for (Index i = 0; i < n; i += 16) {
    const __m512i bits = _mm512_maskz_loadu_epi32(first_lanes(n - i), x + i);
    most = _mm512_max_epi32(most, _mm512_and_si512(bits, magnitude));
  }
  std::uint32_t lanes[16];
  _mm512_storeu_si512(lanes, most);
  std::uint32_t largest = 0;
  for (const std::uint32_t bits : lanes) largest = largest < bits ? bits : largest;
  return largest;
}

void round_all(const float* x, float factor, Index n, std::int8_t* out) {
  const __m512 factors = _mm512_set1_ps(factor);
  for (Index i = 0; i < n; i += 16) {
    const __mmask16 lanes = first_lanes(n - i);
    const __m512 numbers = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, x + i), factors);
    _mm512_mask_cvtepi32_storeu_epi8(out + i, lanes, _mm512_cvtps_epi32(numbers));
  }
}

}  // namespace
}  // namespace attn
