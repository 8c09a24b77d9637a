// The position-wise feed-forward layer: activation(x · W₁ + b₁) · W₂ + b₂ (Vaswani et al. 2017,
// equation 2, with a choice of activation), or with a gate (Shazeer 2020, "GLU Variants Improve
// Transformer"): (activation(x · W₁) ⊙ (x · W_g)) · W₂.
#pragma once

#include "compute/buffer.h"
#include "config/model_config.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace attn {

struct FeedForward {
  Linear first;   ///< weight [D, F]
  Linear gate;    ///< weight [D, F]; none in most models
  Linear second;  ///< weight [F, D]
  Activation activation = Activation::relu;

  PackedLinear first_packed;
  PackedLinear gate_packed;
  PackedLinear second_packed;

  void prepare(PreparationOptions how);

  bool gated() const { return gate.weight.exists(); }

  /// Computes out [T, D] from x [T, D], as many rows at a time as the scratch `hidden` has: [≥ 1,
  /// F], or with a gate [≥ 1, 2F], whose first F columns get the input of the second matrix
  /// multiplication.
  void forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const;
};

/// Applies the activation to each row, in place: relu(x) = max(x, 0); gelu(x) = x · Φ(x)
/// (Hendrycks and Gimpel 2016, the exact form with erf), gelu_new with tanh instead (ibid.);
/// swish(x) = x · sigmoid(x) (Ramachandran et al. 2017).
void activate(Activation activation, MatrixRef x);

/// Returns the function that activate() applies to a row.
RowFunction activation_function(Activation activation);

/// Multiplies dy by the activation's slope, in place. relu reads the slope from its output y; the
/// others need their input x (the other one may be empty).
void activate_backward(Activation activation, const ConstMatrixRef& x, const ConstMatrixRef& y,
                       MatrixRef dy);

/// The layer in training. Its buffers keep the data that backward() needs from forward().
class TrainableFeedForward {
 public:
  TrainableFeedForward(const FeedForward& parameters, const FeedForward& gradient, Backend backend);
  void prepare();

  /// Computes y [T, D] from x [T, D]; `dropout` acts on the activations.
  void forward(const ConstMatrixRef& x, const Dropout& dropout, MatrixRef y);

  /// Call after forward() with the same x: computes dx from dy, and the parameters' gradients.
  /// `scratch` may be shared.
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, const InputGradient& dx,
                ActivationBuffer& scratch) const;

 private:
  /// Multiplies dhidden [T, F] by the gates, and computes dgates [T, F] from its old value.
  void gate_backward(MatrixRef dhidden, MatrixRef dgates) const;

  Activation activation_;
  bool gated_;
  TrainableLinear first_;
  TrainableLinear gate_;
  TrainableLinear second_;
  Dropout dropout_;
  ActivationBuffer raw_;     ///< [T, F] before the activation; not used by relu without a gate
  ActivationBuffer gates_;   ///< [T, F] the gate's factor; none in most models
  ActivationBuffer hidden_;  ///< [T, F] input of the second matrix multiplication
};

}  // namespace attn
