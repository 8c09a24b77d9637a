// A block's residual connection in training: dropout, residual sum and norm, forward and backward.
#pragma once

#include <optional>
#include <span>

#include "compute/buffer.h"
#include "nn/attention/attention.h"
#include "nn/dropout.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace attn {

/// Memory for the backward pass of any residual; the block inside must not use it.
struct ResidualScratch {
  ActivationBuffer dout;     ///< [T, D] gradient of the block's output
  ActivationBuffer dnormal;  ///< [T, D] gradient of the block's input, if that is the norm's output
};

/// y = norm(x + dropout(block(x)))     in post-norm models (Vaswani et al. 2017, Marian),
/// y = x + dropout(block(norm(x)))     in pre-norm models (Xiong et al. 2020, Pegasus).
///
///   forward    in = pre_norm(x);  the block reads in and writes out();  y = add_and_norm(x, …)
///   backward   dout = add_and_norm_backward(dx, …), where dx is the gradient of y;
///              the block reads block_input(x) and dout and writes block_input_gradient(dx, …);
///              pre_norm_backward(x, dx, …): dx is the gradient of x
///
/// Keeps the values for the backward pass in two buffers, which both orders share.
class TrainableResidual {
 public:
  TrainableResidual(const LayerNorm& norm, const LayerNorm& gradient, bool normalize_before)
      : norm_(norm), gradient_(gradient), pre_norm_(normalize_before) {}
  /// Adds a separate norm for the global rows before each sentence; pre-norm models only.
  void add_global(const LayerNorm& norm, const LayerNorm& gradient) {
    global_.emplace(Global{norm, gradient});
  }

  /// Computes the block's input [T, D] from x [T, D]. `groups` say which rows are global.
  ConstMatrixRef pre_norm(const ConstMatrixRef& x, std::span<const AttentionGroup> groups = {});
  /// Returns the buffer for the block's output, [T, D].
  MatrixRef out() { return sum_; }
  /// Returns y [T, D], valid until the next pass. `dropout` acts on the block's output.
  ConstMatrixRef add_and_norm(const ConstMatrixRef& x, const Dropout& dropout);
  ConstMatrixRef output() const { return pre_norm_ ? sum_ : normal_; }

  /// dx [T, D] is the gradient of y on entry, and the part of x's gradient that bypasses the block
  /// on return. Returns the gradient of the block's output.
  ConstMatrixRef add_and_norm_backward(MatrixRef dx, ResidualScratch& scratch) const;
  /// Returns the block's input.
  ConstMatrixRef block_input(const ConstMatrixRef& x) const {
    return pre_norm_ ? ConstMatrixRef(normal_) : x;
  }
  /// Returns the destination of the gradient of the block's input.
  InputGradient block_input_gradient(MatrixRef dx, ResidualScratch& scratch) const;
  /// Adds the part of x's gradient that passes through the block to dx, in pre-norm models.
  void pre_norm_backward(const ConstMatrixRef& x, MatrixRef dx, ResidualScratch& scratch,
                         std::span<const AttentionGroup> groups = {}) const;

 private:
  struct Global {
    LayerNorm norm;
    LayerNorm gradient;
  };

  LayerNorm norm_;
  LayerNorm gradient_;
  bool pre_norm_;
  std::optional<Global> global_;
  Dropout dropout_;
  ActivationBuffer sum_;     ///< [T, D] x + dropout(block(…))
  ActivationBuffer normal_;  ///< [T, D] the norm's output
};

}  // namespace attn
