// Finds the matrices of an explanation, and recomputes them in double precision.
#pragma once

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <string_view>

#include "base/at.h"
#include "record/explanation.h"

namespace attn::test {

using Exact = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

inline const ExplanationStep& step_of(const Explanation& explanation, std::string_view id) {
  for (const ExplanationStep& step : explanation.steps) {
    if (step.id == id) return step;
  }
  FAIL("no step " << id);
  return explanation.steps.front();
}

inline const NamedMatrix* find_matrix(const ExplanationStep& step, std::string_view name) {
  for (const NamedMatrix& matrix : step.matrices) {
    if (matrix.name == name) return &matrix;
  }
  return nullptr;
}

inline const NamedMatrix& matrix_of(const Explanation& explanation, std::string_view id,
                                    std::string_view name) {
  const NamedMatrix* found = find_matrix(step_of(explanation, id), name);
  REQUIRE_MESSAGE(found != nullptr, id, ": ", name);
  return *found;
}

inline Exact exact(const NamedMatrix& matrix) {
  Exact out(matrix.rows, matrix.columns);
  for (int i = 0; i < matrix.rows; ++i) {
    for (int j = 0; j < matrix.columns; ++j) {
      out(i, j) = static_cast<double>(at(matrix.values, i * matrix.columns + j));
    }
  }
  return out;
}

inline Exact exact(const Explanation& explanation, std::string_view id, std::string_view name) {
  return exact(matrix_of(explanation, id, name));
}

/// Returns the largest distance relative to the size of the numbers; −∞ equals −∞.
inline double distance(const Exact& a, const Exact& b) {
  REQUIRE(a.rows() == b.rows());
  REQUIRE(a.cols() == b.cols());
  double worst = 0, size = 1;
  for (Eigen::Index i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (x == y) continue;
    worst = std::max(worst, std::abs(x - y));
    size = std::max(size, std::abs(y));
  }
  return std::isnan(worst) ? HUGE_VAL : worst / size;
}

/// Returns x · w + b for every row; b may be absent.
inline Exact affine(const Exact& x, const Exact& w, const NamedMatrix* b) {
  Exact out = x * w;
  if (b != nullptr) out.rowwise() += exact(*b).row(0);
  return out;
}

inline Exact softmax(Exact x) {
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    x.row(i) = (x.row(i).array() - x.row(i).maxCoeff()).exp();
    x.row(i) /= x.row(i).sum();
  }
  return x;
}

inline Exact normed(Exact x, const Exact& weight, const Exact& bias) {
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    const double mean = x.row(i).mean();
    x.row(i).array() -= mean;
    x.row(i) /= std::sqrt(x.row(i).squaredNorm() / static_cast<double>(x.cols()) + 1e-5);
    x.row(i) = x.row(i).cwiseProduct(weight) + bias;
  }
  return x;
}

}  // namespace attn::test
