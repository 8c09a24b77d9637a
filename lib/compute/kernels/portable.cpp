// The kernels for any CPU. fma() here is two roundings (a software fma would be a hundred times
// slower), so this table's last bits differ from the others'.
#include "compute/kernels/kernels.h"
#include "compute/kernels/lanes_of_four.h"

namespace attn {
namespace {

inline Lanes fma(Lanes x, Lanes y, Lanes z) {
  return x * y + z;
}

constexpr Index kPanelLanes = 1;
constexpr Index kRowBlock = 2;    // 8 registers of sums, 4 of weights, the others of products
constexpr Index kQueryBlock = 1;  // 16 registers are few
constexpr Index kBlockLanes = 4;
constexpr bool kWidens = false;
constexpr Index kScoreChain = 16;  // short chains make up for the second rounding

}  // namespace
}  // namespace attn

#include "compute/kernels/impl.h"

constinit const attn::Kernels attn::portable_table = make_table("portable");
