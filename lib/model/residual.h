// A sub-layer's surroundings in training: dropout, the residual sum and the norm.
#pragma once

#include "compute/buffer.h"
#include "nn/dropout.h"
#include "nn/layer_norm.h"
#include "nn/linear.h"

namespace attn {

/// y = norm(x + dropout(sublayer(x)))     after each block (Vaswani et al. 2017, Marian), or
/// y = x + dropout(sublayer(norm(x)))     before it (Xiong et al. 2020, Pegasus),
/// and back. Keeps what backward() needs in two buffers, which both orders share.
class TrainableResidual {
 public:
  TrainableResidual(const LayerNorm& norm, const LayerNorm& gradient, bool normalize_before)
      : norm_(norm), gradient_(gradient), normalize_before_(normalize_before) {}

  /// sublayer(in, out) reads and writes [T, D]. Returns y, alive until the next pass.
  template <typename SubLayer>
  ConstMatrixRef forward(const ConstMatrixRef& x, const Dropout& dropout, SubLayer&& sublayer) {
    dropout_ = dropout;
    MatrixRef sum = sum_.resize(x.rows(), x.cols());
    MatrixRef normal = normal_.resize(x.rows(), x.cols());
    if (normalize_before_) norm_.forward(x, normal);
    sublayer(normalize_before_ ? ConstMatrixRef(normal_) : x, sum);
    finish_forward(x, sum, normal);
    return output();
  }
  ConstMatrixRef output() const { return normalize_before_ ? sum_ : normal_; }

  /// On entry d is the gradient at y, on return the one at x. sublayer(in, dout, din) takes the
  /// sub-layer's input, the gradient at its output, and where the one at its input goes.
  /// `scratch` is anyone's; the sub-layer may not use it.
  template <typename SubLayer>
  void backward(const ConstMatrixRef& x, MatrixRef d, Buffer (&scratch)[2], SubLayer&& sublayer) {
    MatrixRef dout = scratch[0].resize(x.rows(), x.cols());
    start_backward(d, dout);
    if (!normalize_before_) {
      sublayer(x, ConstMatrixRef(dout), InputGradient{d, true});
      return;
    }
    MatrixRef dnormal = scratch[1].resize(x.rows(), x.cols());
    sublayer(ConstMatrixRef(normal_), ConstMatrixRef(dout), InputGradient{dnormal, false});
    norm_.backward(x, dnormal, dnormal, gradient_);
    add_into(dnormal, d);
  }

 private:
  void finish_forward(const ConstMatrixRef& x, MatrixRef sum, MatrixRef normal) const;
  void start_backward(MatrixRef d, MatrixRef dout) const;
  static void add_into(const ConstMatrixRef& x, MatrixRef y);

  LayerNorm norm_;
  LayerNorm gradient_;
  bool normalize_before_;
  Dropout dropout_;
  Buffer sum_;     ///< [T, D] x + dropout(sublayer(…))
  Buffer normal_;  ///< [T, D] the norm's output
};

}  // namespace attn
