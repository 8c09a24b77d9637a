// LayerNorm (Ba et al. 2016): shifts each row to mean 0, scales it to variance 1, then applies a
// weight and a bias per column. T5's RMSNorm scales a row to mean square 1 and applies a weight
// (Zhang and Sennrich 2019). The residual sum is here, too.
#pragma once

#include "compute/matmul.h"
#include "compute/tensor.h"
#include "config/model_config.h"

namespace attn {

struct LayerNorm {
  Parameter weight;  ///< [1, D]
  Parameter bias;    ///< [1, D]; rms: none
  NormType kind = NormType::layer;
  /// Added to the variance or the mean square; the default is transformers' and PyTorch's.
  float epsilon = kLayerNormEpsilon;

  static constexpr float kLayerNormEpsilon = 1e-5F;

  /// Returns the parameters in the form that the kernels read, for rows of D numbers.
  NormRow row(Index d_model) const { return {weight.data, bias.data, epsilon, d_model}; }

  /// Computes out = (x − mean(x)) / √(var(x) + ε) · weight + bias, row by row; rms: x / √(mean(x²)
  /// + ε) · weight. x and out [T, D] may be the same.
  void forward(const ConstMatrixRef& x, MatrixRef out) const;
  /// Does the same for one row of n numbers.
  void forward_row(const float* x, Index n, float* out) const;

  /// Computes dx from dy [T, D], the gradient of the output of forward(x), and adds to `gradient`.
  /// dx may be dy. With x̂ the normalized row and g = dy ⊙ weight:
  ///   dx = (g − mean(g) − x̂ · mean(g ⊙ x̂)) / √(var(x) + ε),
  ///   dweight += Σ dy ⊙ x̂,   dbias += Σ dy.
  /// rms: with the mean square instead of the variance, and without mean(g) and bias.
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, MatrixRef dx,
                const LayerNorm& gradient) const;
};

// The residual connection's sum.

/// Adds x to y, row by row. x, y [T, D].
void add_rows(const ConstMatrixRef& x, MatrixRef y);

}  // namespace attn
