// Random matrices for tests, the same on every machine.
#pragma once

#include <limits>
#include <string_view>

#include "base/at.h"
#include "base/random.h"
#include "compute/matmul.h"

namespace attn::test {

inline Matrix random_matrix(Index rows, Index columns, std::string_view name, float bound = 1.0F) {
  Matrix m(rows, columns);
  fill_uniform(20261121, name, bound, m.data(), to_size(m.size()));
  return m;
}

inline Parameter view(Matrix& m) {
  return row_major(m.data(), m.rows(), m.cols());
}

/// Returns a matrix of NaN, which a computation under test must overwrite.
inline Matrix poisoned(Index rows, Index columns) {
  return Matrix::Constant(rows, columns, std::numeric_limits<float>::quiet_NaN());
}

}  // namespace attn::test
