#include "nn/layer_norm.h"

namespace attn {

void LayerNorm::forward(const ConstMatrixRef& x, MatrixRef out) const {
  parallel_for(x.rows(), x.size() * 8, [&](Index t) {
    kernels().layer_norm(x.data() + t * x.outerStride(), weight.data, bias.data, epsilon, x.cols(),
                         out.data() + t * out.outerStride());
  });
}

}  // namespace attn
