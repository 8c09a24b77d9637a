// int8 kernels for CPUs with AVX-512 but without VNNI.
#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512dq"
#include "compute/kernels/begin_target.h"

#include "compute/int8/ints512.h"
#include "compute/int8/signs.h"

namespace attn {
namespace {

/// The instruction multiplies unsigned by signed numbers. We give it |x| and w, or, for negative x,
/// |x| and w's complement −w − 1. The result is x · w, except that every negative x is off by −|x|;
/// the sums start with Σ |x| over these.
struct Row {
  static constexpr Index kBytes = 2 * kInt8Group;
  __m512i negative;
  __m512i magnitudes;

  static Row load(const std::int8_t* x) { return {four_bytes(x), four_bytes(x + kInt8Group)}; }

  static std::int32_t pack(const std::int8_t* numbers, Index groups, std::int8_t* out) {
    return pack_signs_and_magnitudes(numbers, groups, out);
  }
};

struct Ints {
  static constexpr Index kColumns = 16;
  __m512i v;

  static Ints start(std::int32_t negatives, const std::int32_t*) {
    return {_mm512_set1_epi32(negatives)};
  }

  /// Adds pairs of products in 16 bits without saturation: 2 · 127 · 128 = 32512 fits.
  void add_products(const Row& x, const Bytes& w) {
    const __m512i turned = _mm512_xor_si512(w.v, x.negative);
    const __m512i pairs = _mm512_maddubs_epi16(x.magnitudes, turned);
    v = _mm512_add_epi32(v, _mm512_madd_epi16(pairs, _mm512_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace attn

#include "compute/int8/impl.h"

#include "compute/kernels/end_target.h"

constinit const attn::Int8Kernels attn::avx512_int8_table = attn::make_int8_table("avx512");
