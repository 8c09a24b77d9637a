// Computes gradients by central differences of a function in double, for comparison with backward
// passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include "compute/matmul.h"
#include "nn/dropout.h"
#include "nn/layer_norm.h"
#include "random_matrix.h"

namespace attn::test {

using DoubleMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Returns d f / d x by central differences. f reads x, which is restored after each step.
inline DoubleMatrix numeric_gradient(DoubleMatrix& x, const std::function<double()>& f) {
  constexpr double kStep = 1e-5;
  DoubleMatrix gradient(x.rows(), x.cols());
  for (Index i = 0; i < x.size(); ++i) {
    double& element = x.data()[i];
    const double before = element;
    element = before + kStep;
    const double above = f();
    element = before - kStep;
    gradient.data()[i] = (above - f()) / (2 * kStep);
    element = before;
  }
  return gradient;
}

/// Returns Σ weight ⊙ y, the loss in tests of one layer, whose gradient with respect to y is the
/// weight.
inline double weighted(const Matrix& weight, const DoubleMatrix& y) {
  return weight.cast<double>().cwiseProduct(y).sum();
}

/// Returns the largest difference relative to the largest expected number (or to 1 if all are
/// smaller); NaN counts as infinitely wrong.
inline double largest_error(const ConstMatrixRef& found, const DoubleMatrix& expected) {
  if (found.rows() != expected.rows() || found.cols() != expected.cols()) return INFINITY;
  if (expected.size() == 0) return 0;
  if (!found.allFinite() || !expected.allFinite()) return INFINITY;
  const double scale = std::max(1.0, expected.cwiseAbs().maxCoeff());
  return (found.cast<double>() - expected).cwiseAbs().maxCoeff() / scale;
}

/// Returns layer norm by its formula, with weights and bias [1, columns].
inline DoubleMatrix normalised(const DoubleMatrix& x, const DoubleMatrix& w,
                               const DoubleMatrix& b) {
  DoubleMatrix y(x.rows(), x.cols());
  for (Index t = 0; t < x.rows(); ++t) {
    const Eigen::RowVectorXd centred = x.row(t).array() - x.row(t).mean();
    const double variance = centred.squaredNorm() / static_cast<double>(x.cols());
    const double epsilon = LayerNorm::kLayerNormEpsilon;
    y.row(t) = (centred / std::sqrt(variance + epsilon)).cwiseProduct(w.row(0)) + b.row(0);
  }
  return y;
}

/// Returns the factors by which dropout multiplies each number of a [rows, columns] matrix.
inline DoubleMatrix mask_of(const Dropout& dropout, Index rows, Index columns) {
  Matrix ones = Matrix::Ones(rows, columns);
  dropout.apply(ones);
  return ones.cast<double>();
}

/// A gradient that is added to: starts from random numbers and returns the amount added.
struct AddedTo {
  Matrix start;
  Matrix now;

  AddedTo(Index rows, Index columns, std::string_view name)
      : start(random_matrix(rows, columns, name)), now(start) {}
  Matrix added() const { return now - start; }
};

/// Embeds x as the middle columns of a wider matrix of NaN, as layers see parts of each other's
/// outputs.
struct Embedded {
  Matrix wide;
  Index columns;

  explicit Embedded(const Matrix& x) : wide(poisoned(x.rows(), x.cols() + 5)), columns(x.cols()) {
    wide.middleCols(2, columns) = x;
  }
  MatrixRef view() { return wide.middleCols(2, columns); }
  /// True if nothing was written outside.
  bool untouched_outside() const {
    return wide.leftCols(2).array().isNaN().all() && wide.rightCols(3).array().isNaN().all();
  }
};

}  // namespace attn::test
