#include "nn/layer_norm.h"

#include <algorithm>

#include "compute/kernels/kernels.h"
#include "compute/threads.h"

namespace attn {

void LayerNorm::forward(const ConstMatrixRef& x, MatrixRef out) const {
  parallel_for(x.rows(), x.size() * 8, [&](Index t) {
    forward_row(x.data() + t * x.outerStride(), x.cols(), out.data() + t * out.outerStride());
  });
}

void LayerNorm::forward_row(const float* x, Index n, float* out) const {
  const auto function = kind == NormType::rms ? kernels().rms_norm : kernels().layer_norm;
  function(row(n), x, out);
}

void LayerNorm::backward(const ConstMatrixRef& x, const ConstMatrixRef& dy, MatrixRef dx,
                         const LayerNorm& gradient) const {
  // Each block of rows has its own sums. The number of blocks does not depend on the number of
  // threads, so the gradients are the same to the bit on one thread as on eight.
  constexpr Index kBlocks = 16;
  const Index n = x.cols();
  const Index each = (x.rows() + kBlocks - 1) / kBlocks;
  const NormRow norm = row(n);
  Matrix sums = Matrix::Zero(kBlocks, 2 * n);
  parallel_for(kBlocks, x.size() * 16, [&](Index block) {
    float* dweight = sums.row(block).data();
    for (Index t = block * each; t < std::min((block + 1) * each, x.rows()); ++t) {
      const float* from = x.data() + t * x.outerStride();
      const float* d = dy.data() + t * dy.outerStride();
      float* to = dx.data() + t * dx.outerStride();
      if (kind == NormType::rms) {
        kernels().rms_norm_backward(norm, from, d, to, dweight);
      } else {
        kernels().layer_norm_backward(norm, from, d, to, {dweight, dweight + n});
      }
    }
  });
  if (!gradient.weight.exists()) return;
  for (Index block = 0; block < kBlocks; ++block) {
    kernels().add(sums.row(block).data(), gradient.weight.data, n);
    if (kind == NormType::layer) {
      kernels().add(sums.row(block).data() + n, gradient.bias.data, n);
    }
  }
}

void add_rows(const ConstMatrixRef& x, MatrixRef y) {
  parallel_for(x.rows(), x.size(), [&](Index t) {
    kernels().add(x.data() + t * x.outerStride(), y.data() + t * y.outerStride(), x.cols());
  });
}

}  // namespace attn
