// Quantization of rows with AVX2; included after impl.h by the files that include ints256.h.
#pragma once

#include "compute/int8/impl.h"

namespace attn {
namespace {

std::uint32_t largest_bits(const float* x, Index n) {
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i most = _mm256_setzero_si256();
  Index i = 0;
  for (; i + 8 <= n; i += 8) {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(x + i));
    most = _mm256_max_epi32(most, _mm256_and_si256(bits, magnitude));
  }
  std::uint32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), most);
  std::uint32_t largest = 0;
  for (const std::uint32_t bits : lanes) largest = largest < bits ? bits : largest;
  for (; i < n; ++i) {
    const std::uint32_t bits = magnitude_bits(x[i]);
    largest = largest < bits ? bits : largest;
  }
  return largest;
}

inline __m256i rounded_8(const float* x, __m256 factor) {
  return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_loadu_ps(x), factor));
}

void round_all(const float* x, float factor, Index n, std::int8_t* out) {
  const __m256 factors = _mm256_set1_ps(factor);
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  Index i = 0;
  for (; i + 32 <= n; i += 32) {
    const __m256i low =
        _mm256_packs_epi32(rounded_8(x + i, factors), rounded_8(x + i + 8, factors));
    const __m256i high =
        _mm256_packs_epi32(rounded_8(x + i + 16, factors), rounded_8(x + i + 24, factors));
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), bytes);
  }
  for (; i < n; ++i) out[i] = rounded(x[i] * factor);
}

}  // namespace
}  // namespace attn
