// The kernels for arm64, where every CPU has NEON: the portable lanes with fused multiply-adds, so
// that the bits equal those of AVX2 and AVX-512.
#include <arm_neon.h>

#include "compute/kernels/kernels.h"

namespace attn {
namespace {

inline float32x4_t load_four(const std::uint16_t* p) {  ///< binary16
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(p)));
}

}  // namespace
}  // namespace attn

#include "compute/kernels/lanes_of_four.h"

namespace attn {
namespace {

inline Lanes fma(Lanes x, Lanes y, Lanes z) {
  return each([](Four u, Four v, Four w) -> Four { return vfmaq_f32(w, u, v); }, x, y, z);
}

constexpr Index kPanelLanes = 1;  // registers: 4 for weights,
constexpr Index kRowBlock = 5;    // 20 for sums, 5 for x: 29 of 32
constexpr Index kQueryBlock = 2;  // registers: 16 for sums, 8 for queries,
constexpr Index kBlockLanes = 2;  // 4 for a key: 28
constexpr bool kWidens = true;
constexpr Index kScoreChain = 64;

}  // namespace
}  // namespace attn

#include "compute/kernels/impl.h"

constinit const attn::Kernels attn::neon_table = make_table("neon");
