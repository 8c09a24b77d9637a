// int8 kernels for CPUs with AVX2.
#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

#define ATTN_TARGET "avx2"
#include "compute/kernels/begin_target.h"

#include "compute/int8/ints256.h"
#include "compute/int8/signs.h"

namespace attn {
namespace {

/// The instruction multiplies unsigned by signed numbers. We give it |x| and w, or, for negative x,
/// |x| and w's complement −w − 1. The result is x · w, except that every negative x is off by −|x|;
/// the sums start with Σ |x| over these. (An instruction that negates w exists, but it competes for
/// the multipliers' ports on Zen 3: a third slower.)
struct Row {
  static constexpr Index kBytes = 2 * kInt8Group;
  __m256i negative;
  __m256i magnitudes;

  static Row load(const std::int8_t* x) { return {four_bytes(x), four_bytes(x + kInt8Group)}; }

  static std::int32_t pack(const std::int8_t* numbers, Index groups, std::int8_t* out) {
    return pack_signs_and_magnitudes(numbers, groups, out);
  }
};

/// More rows at a time would save loads, but loads are not the bottleneck; one row avoids spilling
/// registers to memory.
constexpr std::size_t kInt8Rows = 1;

struct Ints {
  static constexpr Index kColumns = 8;
  __m256i v;

  static Ints start(std::int32_t negatives, const std::int32_t*) {
    return {_mm256_set1_epi32(negatives)};
  }

  /// Adds pairs of products in 16 bits without saturation: 2 · 127 · 128 = 32512 fits.
  void add_products(const Row& x, const Bytes& w) {
    const __m256i pairs = _mm256_maddubs_epi16(x.magnitudes, _mm256_xor_si256(w.v, x.negative));
    v = _mm256_add_epi32(v, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};

}  // namespace
}  // namespace attn

#include "compute/int8/rows256.h"

#include "compute/kernels/end_target.h"

constinit const attn::Int8Kernels attn::avx2_int8_table = attn::make_int8_table("avx2");
