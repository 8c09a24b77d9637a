// int8 kernels for CPUs with AVX-512 VNNI: one instruction adds four products.
#include <immintrin.h>

#include "compute/int8/int8_kernels.h"

#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni"
#include "compute/kernels/begin_target.h"

#include "compute/int8/ints512.h"

namespace attn {
namespace {

/// The instruction multiplies unsigned by signed numbers: x + 128 by the weights. Sums start at
/// −128 times the sum of the column's weights, which cancels the offset.
struct Row {
  static constexpr Index kBytes = kInt8Group;
  __m512i shifted;

  static Row load(const std::int8_t* x) { return {four_bytes(x)}; }

  /// Packs in place.
  static std::int32_t pack(const std::int8_t*, Index groups, std::int8_t* out) {
    for (Index i = 0; i < groups * kInt8Group; ++i) {
      out[i] = static_cast<std::int8_t>(out[i] ^ -128);
    }
    return 0;
  }
};

struct Ints {
  static constexpr Index kColumns = 16;
  __m512i v;

  static Ints start(std::int32_t, const std::int32_t* sums) {
    return {
        _mm512_sub_epi32(_mm512_setzero_si512(), _mm512_slli_epi32(_mm512_loadu_si512(sums), 7))};
  }

  /// Inline assembly because, with _mm512_dpbusd_epi32, GCC 12 copies the sums back and forth and
  /// spills them to the stack in blocks of 5 and 6 rows.
  void add_products(const Row& x, const Bytes& w) {
    asm("vpdpbusd %2, %1, %0" : "+v"(v) : "v"(x.shifted), "v"(w.v));
  }
};

}  // namespace
}  // namespace attn

#include "compute/int8/impl.h"

#include "compute/kernels/end_target.h"

constinit const attn::Int8Kernels attn::avx512_vnni_int8_table =
    attn::make_int8_table("avx512-vnni");
