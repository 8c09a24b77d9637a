#include "nn/feed_forward.h"

#include <algorithm>

namespace attn {

void FeedForward::prepare(Preparation how) {
  first_product = first.prepare(how);
  if (gated()) gate_product = gate.prepare(how);
  second_product = second.prepare(how);
}

void FeedForward::forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const {
  for (Index begin = 0; begin < x.rows(); begin += hidden.rows()) {
    const Index count = std::min(hidden.rows(), x.rows() - begin);
    const Index width = second_product.in();
    MatrixRef rows = hidden.topRows(count).leftCols(width);
    first_product(x.middleRows(begin, count), rows, activation_function(activation));
    if (gated()) {
      MatrixRef gates = hidden.topRows(count).rightCols(width);
      gate_product(x.middleRows(begin, count), gates);
      parallel_for(count, rows.size() * 2, [&](Index t) {
        kernels().multiply(gates.data() + t * gates.outerStride(),
                           rows.data() + t * rows.outerStride(), width);
      });
    }
    second_product(rows, out.middleRows(begin, count));
  }
}

RowFunction activation_function(Activation activation) {
  const Kernels& k = kernels();
  return activation == Activation::relu       ? k.relu
         : activation == Activation::gelu     ? k.gelu
         : activation == Activation::gelu_new ? k.gelu_new
                                              : k.swish;
}

void activate(Activation activation, MatrixRef x) {
  const RowFunction function = activation_function(activation);
  parallel_for(x.rows(), x.size() * 4,
               [&](Index t) { function(x.data() + t * x.outerStride(), x.cols()); });
}

void activate_backward(Activation activation, const ConstMatrixRef& x, const ConstMatrixRef& y,
                       MatrixRef dy) {
  const Kernels& k = kernels();
  const bool relu = activation == Activation::relu;
  const ConstMatrixRef& from = relu ? y : x;
  const auto function = relu                                 ? k.relu_backward
                        : activation == Activation::gelu     ? k.gelu_backward
                        : activation == Activation::gelu_new ? k.gelu_new_backward
                                                             : k.swish_backward;
  parallel_for(dy.rows(), dy.size() * 4, [&](Index t) {
    function(from.data() + t * from.outerStride(), dy.data() + t * dy.outerStride(), dy.cols());
  });
}

TrainableFeedForward::TrainableFeedForward(const FeedForward& parameters,
                                           const FeedForward& gradient, Backend backend)
    : activation_(parameters.activation),
      first_(parameters.first, gradient.first, backend),
      second_(parameters.second, gradient.second, backend) {}

void TrainableFeedForward::prepare() {
  first_.prepare();
  second_.prepare();
}

void TrainableFeedForward::forward(const ConstMatrixRef& x, const Dropout& dropout, MatrixRef y) {
  dropout_ = dropout;
  MatrixRef hidden = hidden_.resize(x.rows(), first_.out());
  first_.forward(x, hidden);
  if (activation_ != Activation::relu) raw_.resize(hidden.rows(), hidden.cols()) = hidden;
  activate(activation_, hidden);
  dropout_.apply(hidden);
  second_.forward(hidden, y);
}

void TrainableFeedForward::backward(const ConstMatrixRef& x, const ConstMatrixRef& dy,
                                    const InputGradient& dx, Buffer& scratch) const {
  MatrixRef dhidden = scratch.resize(hidden_.rows(), hidden_.columns());
  second_.backward(hidden_, dy, {dhidden});
  dropout_.apply(dhidden);
  activate_backward(activation_, raw_, hidden_, dhidden);
  first_.backward(x, dhidden, dx);
}

}  // namespace attn
