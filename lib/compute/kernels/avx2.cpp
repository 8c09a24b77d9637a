// The kernels for CPUs with AVX2 and FMA: sixteen lanes are two registers.
#include <immintrin.h>

#include "compute/kernels/kernels.h"

#define ATTN_TARGET "avx2,fma,f16c"
#include "compute/kernels/begin_target.h"

namespace attn {
namespace {

struct Lanes {
  __m256 lo;
  __m256 hi;

  static Lanes zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  static Lanes broadcast(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  static Lanes load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  static Lanes load(const std::uint16_t* p) {  ///< binary16
    const auto* eight = reinterpret_cast<const __m128i*>(p);
    return {_mm256_cvtph_ps(_mm_loadu_si128(eight)), _mm256_cvtph_ps(_mm_loadu_si128(eight + 1))};
  }
  static __m256i mask(Index n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(n)),
                              _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  static __m256 load_eight(const float* p, Index n, __m256 filler) {
    const __m256i there = mask(n);
    return _mm256_blendv_ps(filler, _mm256_maskload_ps(p, there), _mm256_castsi256_ps(there));
  }
  static Lanes load_partial(const float* p, Index n, float filler = 0.0F) {
    const __m256 fill = _mm256_set1_ps(filler);
    return {load_eight(p, n, fill), load_eight(p + 8, n - 8, fill)};
  }
  void store(float* p) const {
    _mm256_storeu_ps(p, lo);
    _mm256_storeu_ps(p + 8, hi);
  }
  void store_partial(float* p, Index n) const {
    _mm256_maskstore_ps(p, mask(n), lo);
    _mm256_maskstore_ps(p + 8, mask(n - 8), hi);
  }
};

inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
inline Lanes operator/(Lanes a, Lanes b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
inline Lanes max(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
inline Lanes min(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
inline Lanes round(Lanes a) {
  constexpr int mode = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  return {_mm256_round_ps(a.lo, mode), _mm256_round_ps(a.hi, mode)};
}
inline __m256 times_power_of_two(__m256 a, __m256 n) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(a), exponent));
}
inline Lanes times_power_of_two(Lanes a, Lanes n) {
  return {times_power_of_two(a.lo, n.lo), times_power_of_two(a.hi, n.hi)};
}
inline Lanes zero_where_less(Lanes x, Lanes bound, Lanes value) {
  return {_mm256_and_ps(_mm256_cmp_ps(x.lo, bound.lo, _CMP_NLT_UQ), value.lo),
          _mm256_and_ps(_mm256_cmp_ps(x.hi, bound.hi, _CMP_NLT_UQ), value.hi)};
}
inline float sum_of_eight(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
inline float max_of_lanes(Lanes a) {
  const __m256 eight = _mm256_max_ps(a.hi, a.lo);
  const __m128 four = _mm_max_ps(_mm256_extractf128_ps(eight, 1), _mm256_castps256_ps128(eight));
  const __m128 two = _mm_max_ps(_mm_movehl_ps(four, four), four);
  return _mm_cvtss_f32(_mm_max_ss(_mm_shuffle_ps(two, two, 1), two));
}
inline float sum_of_lanes(Lanes a) {
  return sum_of_eight(_mm256_add_ps(a.lo, a.hi));
}
/// Lanes i + (i + 4) of what both halves of a make, then of b.
inline __m256 sums_of_two(const Lanes& a, const Lanes& b) {
  const __m256 of_a = _mm256_add_ps(a.lo, a.hi);
  const __m256 of_b = _mm256_add_ps(b.lo, b.hi);
  return _mm256_add_ps(_mm256_permute2f128_ps(of_a, of_b, 0x20),
                       _mm256_permute2f128_ps(of_a, of_b, 0x31));
}
/// out[i] = sum_of_lanes(x[i]), the trees of all four side by side.
inline void store_sums(const Lanes (&x)[4], float* out) {
  const __m256 ab = sums_of_two(x[0], x[1]);
  const __m256 cd = sums_of_two(x[2], x[3]);
  const __m256 two =
      _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xEE));
  const __m256 one =
      _mm256_add_ps(_mm256_shuffle_ps(two, two, 0x88), _mm256_shuffle_ps(two, two, 0xDD));
  const __m128 ac = _mm256_castps256_ps128(one);
  const __m128 bd = _mm256_extractf128_ps(one, 1);
  _mm_storeu_ps(out, _mm_unpacklo_ps(ac, bd));
}
inline bool any_above(Lanes a, Lanes b) {
  return _mm256_movemask_ps(_mm256_or_ps(_mm256_cmp_ps(a.lo, b.lo, _CMP_GT_OQ),
                                         _mm256_cmp_ps(a.hi, b.hi, _CMP_GT_OQ))) != 0;
}
inline Lanes with_sign_of(Lanes a, Lanes sign) {
  const __m256 bit = _mm256_set1_ps(-0.0F);
  return {_mm256_or_ps(a.lo, _mm256_and_ps(sign.lo, bit)),
          _mm256_or_ps(a.hi, _mm256_and_ps(sign.hi, bit))};
}

inline Lanes square_root(Lanes a) {
  return {_mm256_sqrt_ps(a.lo), _mm256_sqrt_ps(a.hi)};
}
inline Lanes keep_where_positive(Lanes x, Lanes value) {
  const __m256 zero = _mm256_setzero_ps();
  return {_mm256_and_ps(_mm256_cmp_ps(x.lo, zero, _CMP_GT_OQ), value.lo),
          _mm256_and_ps(_mm256_cmp_ps(x.hi, zero, _CMP_GT_OQ), value.hi)};
}
inline __m256i broadcast(std::uint32_t x) {
  return _mm256_set1_epi32(static_cast<int>(x));
}
/// dropout_hash() in eight lanes: all ones where an element is kept.
inline __m256 kept_lanes(std::uint64_t key, std::uint32_t first, std::uint32_t threshold) {
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  __m256i h = _mm256_add_epi32(
      _mm256_mullo_epi32(_mm256_add_epi32(broadcast(first), lane), broadcast(kDropoutStride)),
      broadcast(static_cast<std::uint32_t>(key)));
  h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 16));
  h = _mm256_xor_si256(_mm256_mullo_epi32(h, broadcast(kDropoutFirst)),
                       broadcast(static_cast<std::uint32_t>(key >> 32)));
  h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 15));
  h = _mm256_mullo_epi32(h, broadcast(kDropoutSecond));
  h = _mm256_xor_si256(h, _mm256_srli_epi32(h, 16));
  return _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_max_epu32(h, broadcast(threshold)), h));
}
inline Lanes zero_where_dropped(Lanes value, std::uint64_t key, std::uint32_t first,
                                std::uint32_t threshold) {
  return {_mm256_and_ps(kept_lanes(key, first, threshold), value.lo),
          _mm256_and_ps(kept_lanes(key, first + 8, threshold), value.hi)};
}

constexpr Index kPanelLanes = 2;  // 12 registers of sums,
constexpr Index kRowBlock = 3;    // 3 of broadcasts, 1 of weights: all 16
constexpr Index kQueryBlock = 2;  // 8 of sums, 4 of queries,
constexpr Index kBlockLanes = 2;  // 2 of a key: 14
constexpr bool kWidens = true;
constexpr Index kScoreChain = 64;

}  // namespace
}  // namespace attn

#include "compute/kernels/impl.h"

#include "compute/kernels/end_target.h"

constinit const attn::Kernels attn::avx2_table = make_table("avx2");
