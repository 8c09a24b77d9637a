// Mixed-precision matmul for training and translation (Micikevicius et al. 2018; Kalamkar et al.
// 2019). Both factors are rounded to bfloat16, the upper 16 bits of a float32, and their products
// are summed in float32. On CPUs with bfloat16 tiles (tile_kernels.h) this is several times as fast
// as float32. Elsewhere the rounded numbers pass through the float32 kernels, with the same results
// up to the order of sums.
#pragma once

#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"

namespace attn {

/// Rounds x to the nearest bfloat16, ties to even; values below the smallest normal float32 become
/// 0.
float round_to_bfloat16(float x);

/// True if this CPU multiplies bfloat16 and ATTN_DEMO_CPU does not select other kernels.
bool cpu_multiplies_bfloat16();

/// Weights side by side, [in, out] in total, as tiles of the right factor.
class Bfloat16Weight {
 public:
  /// Packs weights of `in` rows each. Requires tile_kernels().
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// Multiplies. The bits of an element do not depend on other rows or the number of threads.
  void multiply(const BatchMatmul& p) const;

 private:
  void pack_tiles(const std::vector<Parameter>& weights, Index column, std::uint16_t* tiles) const;

  Index in_ = 0;
  Index out_ = 0;
  AlignedFloats tiles_;
};

/// Returns how many floats pack() takes from an arena.
std::size_t bfloat16_floats(Index in, Index out);

/// Computes c += aᵀ · b, like add_transposed_matmul(). Requires tile_kernels().
void add_transposed_bfloat16(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c);

}  // namespace attn
