// int8 kernels for arm64 with dot products: one instruction adds four products.
#include "compute/int8/int8_kernels.h"

#ifdef __clang__
#define ATTN_TARGET "dotprod"
#else
#define ATTN_TARGET "arch=armv8.2-a+dotprod"
#endif
#include "compute/kernels/begin_target.h"

#include "compute/int8/ints_neon.h"

namespace attn {
namespace {

constexpr std::size_t kInt8Rows = 4;  // registers: 16 for sums, 4 for weights, 4 for x

struct Ints {
  static constexpr Index kColumns = 4;
  int32x4_t v;

  static Ints start(std::int32_t, const std::int32_t*) { return {vdupq_n_s32(0)}; }

  /// vdotq_s32(v, w.v, x.v) as inline assembly: Clang 14 has the intrinsic only if the whole file
  /// is compiled for such CPUs.
  void add_products(const Row& x, const Bytes& w) {
    asm("sdot %0.4s, %1.16b, %2.16b" : "+w"(v) : "w"(w.v), "w"(x.v));
  }
};

}  // namespace
}  // namespace attn

#include "compute/int8/rows.h"

#include "compute/kernels/end_target.h"

constinit const attn::Int8Kernels attn::dotprod_int8_table = attn::make_int8_table("neon-dotprod");
