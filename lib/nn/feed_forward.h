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

  /// x [T, D] → out [T, D], as many rows at a time as the scratch `hidden` has: [≥ 1, F], with a
  /// gate [≥ 1, 2F], where the first F columns get what the second product reads.
  void forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const;
};

/// In place on each row: relu(x) = max(x, 0); gelu(x) = x · Φ(x) (Hendrycks and Gimpel 2016, the
/// exact form by erf), gelu_new by tanh instead (ibid.); swish(x) = x · sigmoid(x) (Ramachandran et
/// al. 2017).
void activate(Activation activation, MatrixRef x);

/// Returns the function that activate() applies to a row.
RowFunction activation_function(Activation activation);

/// In place on dy: times the activation's slope. relu reads it from its output y; the others
/// need their input x (the other may be empty).
void activate_backward(Activation activation, const ConstMatrixRef& x, const ConstMatrixRef& y,
                       MatrixRef dy);

/// The layer in training. What backward() needs of forward() stays in its buffers.
class TrainableFeedForward {
 public:
  TrainableFeedForward(const FeedForward& parameters, const FeedForward& gradient, Backend backend);
  void prepare();

  /// x [T, D] → y [T, D]; `dropout` acts on the activations.
  void forward(const ConstMatrixRef& x, const Dropout& dropout, MatrixRef y);

  /// After forward() of the same x: dy → dx, and the parameters' gradients. `scratch` is anyone's.
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, const InputGradient& dx,
                ActivationBuffer& scratch) const;

 private:
  /// dhidden [T, F] → the same, and dgates [T, F] from what it was.
  void gate_backward(MatrixRef dhidden, MatrixRef dgates) const;

  Activation activation_;
  bool gated_;
  TrainableLinear first_;
  TrainableLinear gate_;
  TrainableLinear second_;
  Dropout dropout_;
  ActivationBuffer raw_;     ///< [T, F] before the activation; relu without a gate does without
  ActivationBuffer gates_;   ///< [T, F] what it is multiplied with; none in most models
  ActivationBuffer hidden_;  ///< [T, F] what the second product reads
};

}  // namespace attn
