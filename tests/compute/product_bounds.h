// Bounds on the difference between a float32 matrix product and the same in double, and when two
// must have the same bits.
#pragma once

#include <cmath>
#include <cstring>

#include "base/at.h"
#include "compute/tensor.h"

namespace attn::test {

/// Errors grow with the square root of the number of terms, each of which is at most 1.
inline bool near(const ConstMatrixRef& found, const Eigen::MatrixXd& expected, Index terms) {
  if (!found.allFinite()) return false;
  const double bound = 1.5e-6 * (4 + std::sqrt(static_cast<double>(terms)));
  return (found.cast<double>() - expected).cwiseAbs().maxCoeff() < bound;
}

inline bool same_bits(const Matrix& a, const Matrix& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), to_size(a.size()) * sizeof(float)) == 0;
}

}  // namespace attn::test
