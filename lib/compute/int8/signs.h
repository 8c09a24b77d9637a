// Packing of x for tables that multiply magnitudes; included only by those files, between their
// pragmas.
#pragma once

#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

/// Writes four bytes that mark a group's negative numbers (−1, else 0), then the magnitudes;
/// returns Σ |x| of the negative numbers. `numbers` may be the second half of `out`: each group is
/// read before it is overwritten.
inline std::int32_t pack_signs_and_magnitudes(const std::int8_t* numbers, Index groups,
                                              std::int8_t* out) {
  const __m256i zero = _mm256_setzero_si256();
  __m256i sums = zero;
  Index g = 0;
  for (; g + 8 <= groups; g += 8) {
    const __m256i x =
        _mm256_loadu_si256(reinterpret_cast<const __m256i*>(numbers + g * kInt8Group));
    const __m256i negative = _mm256_cmpgt_epi8(zero, x);
    const __m256i magnitudes = _mm256_abs_epi8(x);
    sums = _mm256_add_epi32(sums, _mm256_sad_epu8(_mm256_and_si256(magnitudes, negative), zero));
    const __m256i low = _mm256_unpacklo_epi32(negative, magnitudes);  // groups 0 1 4 5
    const __m256i high = _mm256_unpackhi_epi32(negative, magnitudes);
    auto* to = reinterpret_cast<__m256i*>(out + 2 * g * kInt8Group);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(low, high, 0x31));
  }
  std::int32_t lanes[8];
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(lanes), sums);
  std::int32_t sum = lanes[0] + lanes[2] + lanes[4] + lanes[6];
  for (; g < groups; ++g) {
    std::int8_t four[kInt8Group];
    __builtin_memcpy(four, numbers + g * kInt8Group, sizeof four);
    for (Index i = 0; i < kInt8Group; ++i) {
      const bool negative = four[i] < 0;
      const int magnitude = negative ? -four[i] : four[i];
      out[2 * g * kInt8Group + i] = static_cast<std::int8_t>(negative ? -1 : 0);
      out[(2 * g + 1) * kInt8Group + i] = static_cast<std::int8_t>(magnitude);
      sum += negative ? magnitude : 0;
    }
  }
  return sum;
}

}  // namespace
}  // namespace attn
