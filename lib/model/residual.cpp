#include "model/residual.h"

namespace attn {
namespace {

float* row_of(const MatrixRef& x, Index t) {
  return const_cast<float*>(x.data()) + t * x.outerStride();
}

}  // namespace

void TrainableResidual::finish_forward(const ConstMatrixRef& x, MatrixRef sum,
                                       MatrixRef normal) const {
  const Kernels& k = kernels();
  const Index n = x.cols();
  parallel_for(x.rows(), x.size() * 12, [&](Index t) {  // one visit of each row for all three
    float* row = row_of(sum, t);
    dropout_.apply(row, n, t * n);
    k.add(x.data() + t * x.outerStride(), row, n);
    if (!normalize_before_) {
      k.layer_norm(row, norm_.weight.data, norm_.bias.data, LayerNorm::epsilon, n,
                   row_of(normal, t));
    }
  });
}

void TrainableResidual::start_backward(MatrixRef d, MatrixRef dout) const {
  if (!normalize_before_) norm_.backward(sum_, d, d, gradient_);
  const Index n = d.cols();
  parallel_for(d.rows(), d.size() * 4, [&](Index t) {
    dout.row(t) = d.row(t);
    dropout_.apply(row_of(dout, t), n, t * n);
  });
}

void TrainableResidual::add_into(const ConstMatrixRef& x, MatrixRef y) {
  parallel_for(x.rows(), x.size(), [&](Index t) {
    kernels().add(x.data() + t * x.outerStride(), row_of(y, t), x.cols());
  });
}

}  // namespace attn
