// Products in 8 bits for every arm64.
#include "compute/int8/ints_neon.h"

namespace attn {
namespace {

constexpr std::size_t kInt8Rows = 2;  // 16 registers of sums, 4 of weights

struct Ints {
  static constexpr Index kColumns = 4;
  int32x4x2_t v;  ///< two sums of each column, which are added up in the end

  static Ints start(std::int32_t, const std::int32_t*) {
    return {{{vdupq_n_s32(0), vdupq_n_s32(0)}}};
  }

  /// Each product has 16 bits of its own; pairs are added to 32.
  void add_products(const Row& x, const Bytes& w) {
    const int16x8_t first = vmull_s8(vget_low_s8(w.v), vget_low_s8(x.v));
    v.val[0] = vpadalq_s16(v.val[0], first);
    v.val[1] = vpadalq_s16(v.val[1], vmull_high_s8(w.v, x.v));
  }
};

inline Floats scaled(int32x4x2_t sums, float row_scale, const float* scales) {
  return scaled(vpaddq_s32(sums.val[0], sums.val[1]), row_scale, scales);
}

}  // namespace
}  // namespace attn

#include "compute/int8/rows.h"

constinit const attn::Int8Kernels attn::neon_int8_table = attn::make_int8_table("neon");
