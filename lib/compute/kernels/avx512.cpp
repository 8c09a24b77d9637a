// The kernels for CPUs with AVX-512: sixteen lanes are one register.
#include <immintrin.h>

#include "compute/kernels/kernels.h"

#ifdef __clang__
#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c"
#else
#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx2,fma,f16c,prefer-vector-width=512"
#endif
#include "compute/kernels/begin_target.h"

namespace attn {
namespace {

struct Lanes {
  __m512 v;

  static Lanes zero() { return {_mm512_setzero_ps()}; }
  static Lanes broadcast(float x) { return {_mm512_set1_ps(x)}; }
  static Lanes load(const float* p) { return {_mm512_loadu_ps(p)}; }
  static Lanes load(const std::uint16_t* p) {  ///< binary16
    return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
  }
  static Lanes load_partial(const float* p, Index n, float filler = 0.0F) {
    const auto mask = static_cast<__mmask16>((1U << n) - 1U);
    return {_mm512_mask_loadu_ps(_mm512_set1_ps(filler), mask, p)};
  }
  void store(float* p) const { _mm512_storeu_ps(p, v); }
  void store_partial(float* p, Index n) const {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1U << n) - 1U), v);
  }
};

inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline Lanes operator/(Lanes a, Lanes b) {
  return {_mm512_div_ps(a.v, b.v)};
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Lanes max(Lanes a, Lanes b) {
  return {_mm512_max_ps(a.v, b.v)};
}
inline Lanes min(Lanes a, Lanes b) {
  return {_mm512_min_ps(a.v, b.v)};
}
inline Lanes round(Lanes a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}
inline Lanes times_power_of_two(Lanes a, Lanes n) {
  const __m512i exponent = _mm512_slli_epi32(_mm512_cvtps_epi32(n.v), 23);
  return {_mm512_castsi512_ps(_mm512_add_epi32(_mm512_castps_si512(a.v), exponent))};
}
inline Lanes zero_where_less(Lanes x, Lanes bound, Lanes value) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, bound.v, _CMP_NLT_UQ), value.v)};
}
inline float sum_of_eight(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
inline float max_of_eight(__m256 v) {
  const __m128 four = _mm_max_ps(_mm256_extractf128_ps(v, 1), _mm256_castps256_ps128(v));
  const __m128 two = _mm_max_ps(_mm_movehl_ps(four, four), four);
  return _mm_cvtss_f32(_mm_max_ss(_mm_shuffle_ps(two, two, 1), two));
}
inline float sum_of_lanes(Lanes a) {
  const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
  return sum_of_eight(_mm256_add_ps(_mm512_castps512_ps256(a.v), high));
}
inline float max_of_lanes(Lanes a) {
  const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a.v), 1));
  return max_of_eight(_mm256_max_ps(high, _mm512_castps512_ps256(a.v)));
}
/// Returns the sums i + (i + 8) of a's lanes, then of b's.
inline __m512 sums_of_two(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xEE));
}
/// Computes out[i] = sum_of_lanes(x[i]), with all four trees side by side.
inline void store_sums(const Lanes (&x)[4], float* out) {
  const __m512 ab = sums_of_two(x[0].v, x[1].v);
  const __m512 cd = sums_of_two(x[2].v, x[3].v);
  const __m512 four =
      _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xDD));
  const __m512 two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4E));
  const __m512 one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xB1));
  _mm_storeu_ps(out, _mm512_castps512_ps128(_mm512_maskz_compress_ps(0x1111, one)));
}
inline bool any_above(Lanes a, Lanes b) {
  return _mm512_cmp_ps_mask(a.v, b.v, _CMP_GT_OQ) != 0;
}
inline Lanes with_sign_of(Lanes a, Lanes sign) {
  const __m512i bit = _mm512_set1_epi32(static_cast<int>(0x80000000U));
  return {_mm512_castsi512_ps(_mm512_or_epi32(_mm512_castps_si512(a.v),
                                              _mm512_and_epi32(_mm512_castps_si512(sign.v), bit)))};
}

inline Lanes square_root(Lanes a) {
  return {_mm512_sqrt_ps(a.v)};
}
inline Lanes keep_where_positive(Lanes x, Lanes value) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_GT_OQ), value.v)};
}
inline __m512i broadcast(std::uint32_t x) {
  return _mm512_set1_epi32(static_cast<int>(x));
}
/// Applies dropout_hash() (compute/kernels/kernels.h) in sixteen lanes.
inline Lanes zero_where_dropped(Lanes value, std::uint64_t key, std::uint32_t first,
                                std::uint32_t threshold) {
  const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i h = _mm512_add_epi32(
      _mm512_mullo_epi32(_mm512_add_epi32(broadcast(first), lane), broadcast(kDropoutStride)),
      broadcast(static_cast<std::uint32_t>(key)));
  h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
  h = _mm512_xor_si512(_mm512_mullo_epi32(h, broadcast(kDropoutFirst)),
                       broadcast(static_cast<std::uint32_t>(key >> 32)));
  h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 15));
  h = _mm512_mullo_epi32(h, broadcast(kDropoutSecond));
  h = _mm512_xor_si512(h, _mm512_srli_epi32(h, 16));
  return {_mm512_maskz_mov_ps(_mm512_cmpge_epu32_mask(h, broadcast(threshold)), value.v)};
}

constexpr Index kPanelLanes = 4;  // registers: 4 for weights,
constexpr Index kRowBlock = 6;    // 24 for sums, 1 broadcast: 29 of 32
constexpr Index kQueryBlock = 4;  // registers: 16 for sums, 4 for queries,
constexpr Index kBlockLanes = 4;  // 1 for a key: 21
constexpr bool kWidens = true;
constexpr Index kScoreChain = 64;

}  // namespace
}  // namespace attn

#include "compute/kernels/impl.h"

#include "compute/kernels/end_target.h"

constinit const attn::Kernels attn::avx512_table = make_table("avx512");
