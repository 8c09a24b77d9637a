// int8 weights for decoding: one scale per column, sums in 32 bits (int8_kernels.h).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"

namespace attn {

/// Weights side by side, [in, out] in total, as panels for int8_kernels().
class Int8Weight {
 public:
  /// Packs weights of `in` rows each. Throws InputError if a number is NaN or infinite, or if `in`
  /// is so large that a sum might overflow 32 bits.
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// Multiplies, quantizing each row of x with a scale of its own. Row t of y depends only on row t
  /// of x, bit for bit, with every kernel table and any number of threads. A row with NaN or ∞
  /// becomes NaN.
  void multiply(const BatchMatmul& p) const;

 private:
  void pack_panel(const std::vector<Parameter>& weights, Index panel);

  Index in_ = 0;
  Index out_ = 0;
  Index groups_ = 0;
  AlignedFloats panels_;  ///< bytes: panels · groups · width · 4
  AlignedFloats scales_;  ///< [panels · width]
  AlignedFloats sums_;    ///< [panels · width], 32-bit integers
};

/// Returns how many floats pack() takes from an arena.
std::size_t int8_floats(Index in, Index out);

}  // namespace attn
