// int8 kernels for CPUs with AVX-VNNI: one instruction adds four products.
#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

#define ATTN_TARGET "avx2,avxvnni"
#include "compute/kernels/begin_target.h"

#include "compute/int8/ints256.h"

namespace attn {
namespace {

/// The instruction multiplies unsigned by signed numbers: x + 128 by the weights. Sums start at
/// −128 times the sum of the column's weights, which cancels the offset.
struct Row {
  static constexpr Index kBytes = kInt8Group;
  __m256i shifted;

  static Row load(const std::int8_t* x) { return {four_bytes(x)}; }

  /// Packs in place.
  static std::int32_t pack(const std::int8_t*, Index groups, std::int8_t* out) {
    for (Index i = 0; i < groups * kInt8Group; ++i) {
      out[i] = static_cast<std::int8_t>(out[i] ^ -128);
    }
    return 0;
  }
};

constexpr std::size_t kInt8Rows = 2;  // 8 sum registers hide the instruction's latency

struct Ints {
  static constexpr Index kColumns = 8;
  __m256i v;

  static Ints start(std::int32_t, const std::int32_t* sums) {
    const __m256i own = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(sums));
    return {_mm256_sub_epi32(_mm256_setzero_si256(), _mm256_slli_epi32(own, 7))};
  }

  void add_products(const Row& x, const Bytes& w) {
    v = _mm256_dpbusd_avx_epi32(v, x.shifted, w.v);
  }
};

}  // namespace
}  // namespace attn

#include "compute/int8/rows256.h"

#include "compute/kernels/end_target.h"

constinit const attn::Int8Kernels attn::avx_vnni_int8_table = attn::make_int8_table("avx-vnni");
