// The affine map y = x · W + b, with W stored the way it is used: [in, out].
#pragma once

#include "compute/matmul.h"

namespace attn {

struct Linear {
  Parameter weight;  ///< [in, out]
  Parameter bias;    ///< [1, out]; data null: none

  /// The product for repeated use; a copy of the numbers as they are now.
  PackedLinear prepare(PreparationOptions how) const {
    if (bias.data == nullptr) return {{weight}, {}, how};
    return {{weight}, {bias}, how};
  }
};

/// The destination of a backward pass's gradient at its input.
struct InputGradient {
  MatrixRef rows;
  bool add = false;  ///< to what is there, or instead of it
};

/// A linear layer in training: its parameters, their gradients, and the products of both passes.
class TrainableLinear {
 public:
  TrainableLinear() = default;
  /// Both share shapes. The weight is a matrix that lies transposed, [out, in] in rows.
  TrainableLinear(const Linear& parameters, const Linear& gradient, Backend backend);

  /// Reads the parameters again: after every update.
  void prepare();

  /// x [T, in] → y [T, out].
  void forward(const ConstMatrixRef& x, MatrixRef y) const;

  /// From dy [T, out], the loss's gradient at y:
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
