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
  Buffer dout;     ///< [T, D] gradient at the block's output
  Buffer dnormal;  ///< [T, D] gradient at the block's input, where that is the norm's output
};

/// y = norm(x + dropout(block(x)))     where the norm stands behind (Vaswani et al. 2017, Marian),
/// y = x + dropout(block(norm(x)))     or before the block (Xiong et al. 2020, Pegasus).
///
///   forward    in = norm_before(x);  the block reads in and writes out();  y = add_and_norm(x, …)
///   backward   dout = add_and_norm_backward(dx, …), where dx is the gradient at y;  the block
///   reads
///              in(x) and dout and writes din(dx, …);  norm_before_backward(x, dx, …): dx is the
///              gradient at x
///
/// Keeps what the way back needs in two buffers, which both orders share.
class TrainableResidual {
 public:
  TrainableResidual(const LayerNorm& norm, const LayerNorm& gradient, bool normalize_before)
      : norm_(norm), gradient_(gradient), normalize_before_(normalize_before) {}
  /// A norm of their own for the rows before each sentence; the norm stands before the block.
  void add_global(const LayerNorm& norm, const LayerNorm& gradient) {
    global_.emplace(Global{norm, gradient});
  }

  /// x [T, D] → what the block reads, [T, D]. `groups` say which rows are global ones.
  ConstMatrixRef norm_before(const ConstMatrixRef& x, std::span<const AttentionGroup> groups = {});
  /// Where the block writes, [T, D].
  MatrixRef out() { return sum_; }
  /// → y [T, D], alive until the next pass. `dropout` acts on what the block wrote.
  ConstMatrixRef add_and_norm(const ConstMatrixRef& x, const Dropout& dropout);
  ConstMatrixRef output() const { return normalize_before_ ? sum_ : normal_; }

  /// dx [T, D]: on entry the gradient at y, on return at x, as far as it passes by the block.
  /// Returns the gradient at the block's output.
  ConstMatrixRef add_and_norm_backward(MatrixRef dx, ResidualScratch& scratch) const;
  /// What the block has read.
  ConstMatrixRef in(const ConstMatrixRef& x) const {
    return normalize_before_ ? ConstMatrixRef(normal_) : x;
  }
  /// Where the gradient at it goes.
  InputGradient din(MatrixRef dx, ResidualScratch& scratch) const;
  /// Adds to dx what comes through the block, where the norm stands before it.
  void norm_before_backward(const ConstMatrixRef& x, MatrixRef dx, ResidualScratch& scratch,
                            std::span<const AttentionGroup> groups = {}) const;

 private:
  struct Global {
    LayerNorm norm;
    LayerNorm gradient;
  };

  LayerNorm norm_;
  LayerNorm gradient_;
  bool normalize_before_;
  std::optional<Global> global_;
  Dropout dropout_;
  Buffer sum_;     ///< [T, D] x + dropout(block(…))
  Buffer normal_;  ///< [T, D] the norm's output
};

}  // namespace attn
