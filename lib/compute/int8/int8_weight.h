// Weights in 8 bits for decoding: one scale a column, sums in 32 bits (int8_kernels.h).
#pragma once

#include <cstdint>
#include <vector>

#include "compute/batch_matmul.h"
#include "compute/parameter.h"

namespace attn {

/// Weights side by side, [in, out] in all, as panels of int8_kernels().
class Int8Weight {
 public:
  /// Every weight has `in` rows. InputError where a number is NaN or infinite, or where `in` is so
  /// large that a sum may not fit into 32 bits.
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const PackingOptions& how);

  /// Each row of x is rounded to 8 bits, with a scale of its own. Row t of y is a function of row t
  /// of x alone, the same to the bit with every table of kernels and any number of threads. A row
  /// with NaN or ∞ becomes NaN.
  void multiply(const BatchMatmul& p) const;

 private:
  void pack_panel(const std::vector<Parameter>& weights, Index panel);

  Index in_ = 0;
  Index out_ = 0;
  Index groups_ = 0;
  AlignedFloats panels_;  ///< bytes: panels · groups · width · 4
  AlignedFloats scales_;  ///< [panels · width]
  AlignedFloats sums_;    ///< [panels · width], of 32-bit integers
};

/// Floats that pack() takes from an arena.
std::size_t int8_floats(Index in, Index out);

}  // namespace attn
