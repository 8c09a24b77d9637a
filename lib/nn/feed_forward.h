// The position-wise feed-forward layer: activation(x · W₁ + b₁) · W₂ + b₂ (Vaswani et al. 2017,
// equation 2, with a choice of activation).
#pragma once

#include "config/model_config.h"
#include "nn/linear.h"

namespace attn {

struct FeedForward {
  Linear first;   ///< weight [D, F]
  Linear second;  ///< weight [F, D]
  Activation activation = Activation::relu;

  WeightProduct first_product;
  WeightProduct second_product;

  void prepare(Backend backend);

  /// x [T, D] → out [T, D]; `hidden` is scratch of [≥ T, F].
  void forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const;
};

/// In place on each row: relu(x) = max(x, 0); gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016, the
/// exact form by erf); swish(x) = x · sigmoid(x) (Ramachandran et al. 2017).
void activate(Activation activation, MatrixRef x);

}  // namespace attn
