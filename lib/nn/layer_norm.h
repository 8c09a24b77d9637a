// Layer normalisation (Ba et al. 2016): each row is shifted to mean 0, scaled to variance 1, then
// weighted and shifted column by column.
#pragma once

#include "compute/matmul.h"

namespace attn {

struct LayerNorm {
  Parameter weight;  ///< [1, D]
  Parameter bias;    ///< [1, D]

  /// Added to the variance, as in transformers and PyTorch's default.
  static constexpr float epsilon = 1e-5F;

  /// As the kernels read it, D numbers a row.
  NormRow row(Index d_model) const { return {weight.data, bias.data, epsilon, d_model}; }

  /// out = (x − mean(x)) / √(var(x) + ε) · weight + bias, row by row. x, out [T, D], may be the
  /// same.
  void forward(const ConstMatrixRef& x, MatrixRef out) const;

  /// From dy [T, D] at the output of forward(x), adds to `gradient` and writes dx, which may be dy.
  /// With x̂ the normalised row and g = dy ⊙ weight:
  ///   dx = (g − mean(g) − x̂ · mean(g ⊙ x̂)) / √(var(x) + ε),  dweight += Σ dy ⊙ x̂,  dbias += Σ dy.
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, MatrixRef dx,
                const LayerNorm& gradient) const;
};

}  // namespace attn
