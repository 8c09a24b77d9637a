// int8 kernels for every arm64.
#include "compute/int8/ints_neon.h"

namespace attn {
namespace {

constexpr std::size_t kInt8Rows = 2;  // registers: 16 for sums, 4 for weights

struct Ints {
  static constexpr Index kColumns = 4;
  int32x4x2_t v;  ///< two sums per column, added at the end

  static Ints start(std::int32_t, const std::int32_t*) {
    return {{{vdupq_n_s32(0), vdupq_n_s32(0)}}};
  }

  /// Multiplies into 16 bits each and adds pairs into 32 bits.
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
