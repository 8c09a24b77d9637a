// Tensors are Eigen matrices of 32-bit floats, in row-major order.
//
// Dimension letters, used in every shape comment of the project:
//   B sentences of a batch       D d_model
//   T packed rows (tokens)       H heads
//   S source length              K head_dim = D / H
//   L target length              F width of the feed-forward layer
//   V vocabulary
//
// A batch is one [T, D] matrix of all its tokens, sentence after sentence ("packed rows"), with an
// array of B + 1 offsets: sentence b owns the rows offsets[b] … offsets[b+1]−1. Nothing is padded.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "base/index.h"

namespace attn {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using RowVector = Eigen::Matrix<float, 1, Eigen::Dynamic>;

/// A view of rows in another matrix: columns are adjacent, rows may be apart.
using MatrixRef = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixRef = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// The start of each sentence in a packed batch: B + 1 numbers, the first 0, the last T.
using Offsets = std::vector<Index>;

}  // namespace attn
