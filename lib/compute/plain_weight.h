// Weights as Eigen multiplies by them: the reference that tests compare the panels with.
#pragma once

#include <vector>

#include "compute/parameter.h"
#include "compute/product.h"

namespace attn {

/// Weights side by side, [in, out] in all, as one matrix.
class PlainWeight {
 public:
  void pack(const std::vector<Parameter>& weights, Index in, Index out, const Packing& how);
  void multiply(const BatchProduct& p) const;

 private:
  Index in_ = 0;
  Index out_ = 0;
  AlignedFloats matrix_;  ///< [in, out]
};

}  // namespace attn
