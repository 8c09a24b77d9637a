// The kernels for any CPU. Here fma() rounds twice (a software fma would be a hundred times
// slower), so the last bits differ from the other tables'.
#include "compute/kernels/kernels.h"
#include "compute/kernels/lanes_of_four.h"

namespace attn {
namespace {

inline Lanes fma(Lanes x, Lanes y, Lanes z) {
  return x * y + z;
}

constexpr Index kPanelLanes = 1;
constexpr Index kRowBlock = 2;    // registers: 8 for sums, 4 for weights, the rest for products
constexpr Index kQueryBlock = 1;  // only 16 registers
constexpr Index kBlockLanes = 4;
constexpr bool kWidens = false;
constexpr Index kScoreChain = 16;  // short chains compensate for the second rounding

}  // namespace
}  // namespace attn

#include "compute/kernels/impl.h"

constinit const attn::Kernels attn::portable_table = make_table("portable");
