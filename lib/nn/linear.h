// The affine map y = x · W + b. Translation stores W as the formula reads it, [in, out]; training
// stores it as PyTorch does, [out, in].
#pragma once

#include "compute/matmul.h"

namespace attn {

struct Linear {
  Parameter weight;  ///< [in, out]
  Parameter bias;    ///< [1, out]; null data: none

  /// Returns the layer packed for repeated use: a copy of the present numbers.
  PackedLinear prepare(PreparationOptions how) const {
    if (bias.data == nullptr) return {{weight}, {}, how};
    return {{weight}, {bias}, how};
  }
};

/// The destination of a backward pass's gradient at its input.
struct InputGradient {
  MatrixRef rows;
  bool add = false;  ///< adds to the present values instead of replacing them
};

/// A linear layer in training: its parameters, their gradients, and the matrix multiplications of
/// both passes.
class TrainableLinear {
 public:
  TrainableLinear() = default;
  /// Parameters and gradient have the same shapes. The weight is stored transposed, with rows
  /// [out, in].
  TrainableLinear(const Linear& parameters, const Linear& gradient, Backend backend);

  /// Reads the parameters again; call this after every update.
  void prepare();

  /// Computes y [T, out] from x [T, in].
  void forward(const ConstMatrixRef& x, MatrixRef y) const;

  /// Computes, from dy [T, out], the gradient of the loss with respect to y:
  ///   dx = dy · Wᵀ (or added to dx),   dW += xᵀ · dy,   db += Σ_t dy[t].
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, const InputGradient& dx) const;

  Index in() const { return parameters_.weight.rows; }
  Index out() const { return parameters_.weight.columns; }

 private:
  void add_gradients(const ConstMatrixRef& x, const ConstMatrixRef& dy) const;

  Linear parameters_;
  Linear gradient_;
  Backend backend_ = Backend::panels;
  PackedLinear forward_;
  PackedLinear backward_;
};

/// Combines several layers of the same input into one. Their parameters must follow one another in
/// memory (std::logic_error otherwise), so the fused layer is a view.
Linear side_by_side(const std::vector<Linear>& layers);

}  // namespace attn
