#include "nn/feed_forward.h"

namespace attn {

void FeedForward::prepare(Backend backend) {
  first_product = first.prepare(backend);
  second_product = second.prepare(backend);
}

void FeedForward::forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const {
  auto rows = hidden.topRows(x.rows());
  first_product(x, rows);
  activate(activation, rows);
  second_product(rows, out);
}

void activate(Activation activation, MatrixRef x) {
  const Kernels& k = kernels();
  const auto function = activation == Activation::relu   ? k.relu
                        : activation == Activation::gelu ? k.gelu
                                                         : k.swish;
  parallel_for(x.rows(), x.size() * 4,
               [&](Index t) { function(x.data() + t * x.outerStride(), x.cols()); });
}

}  // namespace attn
