// A block's surroundings in training: dropout, the residual sum and the norm, and the way back.
#pragma once

#include <optional>
#include <span>

#include "compute/buffer.h"
#include "nn/attention/attention.h"
#include "nn/dropout.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace attn {

/// Memory for the backward pass of any residual; the block inside may not use it.
struct ResidualScratch {
  ActivationBuffer dout;  ///< [T, D] gradient at the block's output
  ActivationBuffer
      dnormal;  ///< [T, D] gradient at the block's input, where that is the norm's output
};

/// y = norm(x + dropout(block(x)))     where the norm stands behind (Vaswani et al. 2017, Marian),
/// y = x + dropout(block(norm(x)))     or before the block (Xiong et al. 2020, Pegasus).
///
///   forward    in = pre_norm(x);  the block reads in and writes out();  y = add_and_norm(x, …)
///   backward   dout = add_and_norm_backward(dx, …), where dx is the gradient at y;  the block
///   reads
///              block_input(x) and dout and writes block_input_gradient(dx, …);
///              pre_norm_backward(x, dx, …): dx is the gradient at x
///
/// Keeps what the way back needs in two buffers, which both orders share.
class TrainableResidual {
 public:
  TrainableResidual(const LayerNorm& norm, const LayerNorm& gradient, bool normalize_before)
      : norm_(norm), gradient_(gradient), pre_norm_(normalize_before) {}
  /// A norm of their own for the rows before each sentence; the norm stands before the block.
  void add_global(const LayerNorm& norm, const LayerNorm& gradient) {
    global_.emplace(Global{norm, gradient});
  }

  /// x [T, D] → what the block reads, [T, D]. `groups` say which rows are global ones.
  ConstMatrixRef pre_norm(const ConstMatrixRef& x, std::span<const AttentionGroup> groups = {});
  /// Where the block writes, [T, D].
  MatrixRef out() { return sum_; }
  /// → y [T, D], alive until the next pass. `dropout` acts on what the block wrote.
  ConstMatrixRef add_and_norm(const ConstMatrixRef& x, const Dropout& dropout);
  ConstMatrixRef output() const { return pre_norm_ ? sum_ : normal_; }

  /// dx [T, D]: on entry the gradient at y, on return at x, as far as it passes by the block.
  /// Returns the gradient at the block's output.
  ConstMatrixRef add_and_norm_backward(MatrixRef dx, ResidualScratch& scratch) const;
  /// What the block has read.
  ConstMatrixRef block_input(const ConstMatrixRef& x) const {
    return pre_norm_ ? ConstMatrixRef(normal_) : x;
  }
  /// Where the gradient at it goes.
  InputGradient block_input_gradient(MatrixRef dx, ResidualScratch& scratch) const;
  /// Adds to dx what comes through the block, where the norm stands before it.
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
