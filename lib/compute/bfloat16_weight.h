// Products in mixed precision, of training and of translating (Micikevicius et al. 2018; Kalamkar
// et al. 2019): both factors are rounded to bfloat16, the 16 upper bits of a float32, and their
// products are added up in float32. Where the CPU has tiles for it (tile_kernels.h) that is several
// times as fast as float32; elsewhere the rounded numbers go through the float32 kernels: the same
// up to the order of sums.
#pragma once

#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"

namespace attn {

/// x rounded to the nearest bfloat16, ties to even; what is below a normal float32 becomes 0.
float round_to_bfloat16(float x);

/// Whether this CPU multiplies bfloat16, and ATTN_DEMO_CPU asks for no other kernels.
bool cpu_multiplies_bfloat16();

/// Weights side by side, [in, out] in all, as tiles of the right factor.
class Bfloat16Weight {
 public:
  /// Every weight has `in` rows. Needs tile_kernels().
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// An element's bits depend neither on the other rows nor on the number of threads.
  void multiply(const BatchMatmul& p) const;

 private:
  void pack_tiles(const std::vector<Parameter>& weights, Index column, std::uint16_t* tiles) const;

  Index in_ = 0;
  Index out_ = 0;
  AlignedFloats tiles_;
};

/// Floats that pack() takes from an arena.
std::size_t bfloat16_floats(Index in, Index out);

/// c += aᵀ · b, as add_transposed_matmul(). Needs tile_kernels().
void add_transposed_bfloat16(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c);

}  // namespace attn
