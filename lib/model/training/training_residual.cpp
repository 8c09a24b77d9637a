#include "model/training/training_residual.h"

#include "model/global_tokens.h"
#include "nn/layer_norm.h"

namespace attn {

ConstMatrixRef TrainableResidual::pre_norm(const ConstMatrixRef& x,
                                           std::span<const AttentionGroup> groups) {
  sum_.resize(x.rows(), x.cols());
  MatrixRef normal = normal_.resize(x.rows(), x.cols());
  if (!pre_norm_) return x;
  norm_.forward(x, normal);
  if (global_) norm_global_rows(global_->norm, groups, x, normal);
  return normal_;
}

ConstMatrixRef TrainableResidual::add_and_norm(const ConstMatrixRef& x, const Dropout& dropout) {
  dropout_ = dropout;
  const Kernels& k = kernels();
  const Index n = x.cols();
  parallel_for(x.rows(), x.size() * 12, [&](Index t) {  // one pass over each row for all three
    float* sum = sum_.row(t);
    dropout_.apply(sum, n, t * n);
    k.add(x.data() + t * x.outerStride(), sum, n);
    if (!pre_norm_) {
      norm_.forward_row(sum, n, normal_.row(t));
    }
  });
  return output();
}

ConstMatrixRef TrainableResidual::add_and_norm_backward(MatrixRef dx,
                                                        ResidualScratch& scratch) const {
  if (!pre_norm_) norm_.backward(sum_, dx, dx, gradient_);
  MatrixRef dout = scratch.dout.resize(dx.rows(), dx.cols());
  const Index n = dx.cols();
  parallel_for(dx.rows(), dx.size() * 4, [&](Index t) {
    dout.row(t) = dx.row(t);
    dropout_.apply(scratch.dout.row(t), n, t * n);
  });
  return dout;
}

InputGradient TrainableResidual::block_input_gradient(MatrixRef dx,
                                                      ResidualScratch& scratch) const {
  if (!pre_norm_) return {dx, true};
  return {scratch.dnormal.resize(dx.rows(), dx.cols()), false};
}

void TrainableResidual::pre_norm_backward(const ConstMatrixRef& x, MatrixRef dx,
                                          ResidualScratch& scratch,
                                          std::span<const AttentionGroup> groups) const {
  if (!pre_norm_) return;
  MatrixRef dnormal = scratch.dnormal;
  const auto backward = [&](const LayerNorm& norm, const LayerNorm& gradient, Index first,
                            Index count) {
    MatrixRef d = dnormal.middleRows(first, count);
    norm.backward(x.middleRows(first, count), d, d, gradient);
  };
  if (global_) {
    for (const AttentionGroup& group : groups) {
      backward(global_->norm, global_->gradient, group.first_query, group.origin);
      backward(norm_, gradient_, group.first_query + group.origin, group.queries - group.origin);
    }
  } else {
    backward(norm_, gradient_, 0, x.rows());
  }
  add_rows(dnormal, dx);
}

}  // namespace attn
