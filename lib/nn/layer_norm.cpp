#include "nn/layer_norm.h"

#include <algorithm>

namespace attn {

void LayerNorm::forward(const ConstMatrixRef& x, MatrixRef out) const {
  const NormRow norm = row(x.cols());
  const auto function = kind == NormKind::rms ? kernels().rms_norm : kernels().layer_norm;
  parallel_for(x.rows(), x.size() * 8, [&](Index t) {
    function(norm, x.data() + t * x.outerStride(), out.data() + t * out.outerStride());
  });
}

void LayerNorm::backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, MatrixRef dx,
                         const LayerNorm& gradient) const {
  // Each block of rows has sums of its own, and the blocks are as many on one thread as on eight:
  // the gradients' bits do not depend on the threads.
  constexpr Index kBlocks = 16;
  const Index n = x.cols();
  const Index each = (x.rows() + kBlocks - 1) / kBlocks;
  const NormRow norm = row(n);
  Matrix sums = Matrix::Zero(kBlocks, 2 * n);
  parallel_for(kBlocks, x.size() * 16, [&](Index block) {
    float* dweight = sums.row(block).data();
    for (Index t = block * each; t < std::min((block + 1) * each, x.rows()); ++t) {
      kernels().layer_norm_backward(norm, x.data() + t * x.outerStride(),
                                    dy.data() + t * dy.outerStride(),
                                    dx.data() + t * dx.outerStride(), {dweight, dweight + n});
    }
  });
  for (Index block = 0; block < kBlocks; ++block) {
    kernels().add(sums.row(block).data(), gradient.weight.data, n);
    kernels().add(sums.row(block).data() + n, gradient.bias.data, n);
  }
}

}  // namespace attn
