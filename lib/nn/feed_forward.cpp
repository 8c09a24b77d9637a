#include "nn/feed_forward.h"

#include <algorithm>

namespace attn {
namespace {

/// y ← x ⊙ y, row by row.
void multiply_rows(const ConstMatrixRef& x, MatrixRef y) {
  parallel_for(y.rows(), y.size() * 2, [&](Index t) {
    kernels().multiply(x.data() + t * x.outerStride(), y.data() + t * y.outerStride(), y.cols());
  });
}

}  // namespace

void FeedForward::prepare(PreparationOptions how) {
  first_packed = first.prepare(how);
  if (gated()) gate_packed = gate.prepare(how);
  second_packed = second.prepare(how);
}

void FeedForward::forward(const ConstMatrixRef& x, Matrix& hidden, MatrixRef out) const {
  for (Index begin = 0; begin < x.rows(); begin += hidden.rows()) {
    const Index count = std::min(hidden.rows(), x.rows() - begin);
    const Index width = second_packed.in();
    MatrixRef rows = hidden.topRows(count).leftCols(width);
    first_packed(x.middleRows(begin, count), rows, activation_function(activation));
    if (gated()) {
      MatrixRef gates = hidden.topRows(count).rightCols(width);
      gate_packed(x.middleRows(begin, count), gates);
      multiply_rows(gates, rows);
    }
    second_packed(rows, out.middleRows(begin, count));
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
      gated_(parameters.gated()),
      first_(parameters.first, gradient.first, backend),
      second_(parameters.second, gradient.second, backend) {
  if (gated_) gate_ = TrainableLinear(parameters.gate, gradient.gate, backend);
}

void TrainableFeedForward::prepare() {
  first_.prepare();
  if (gated_) gate_.prepare();
  second_.prepare();
}

void TrainableFeedForward::forward(const ConstMatrixRef& x, const Dropout& dropout, MatrixRef y) {
  dropout_ = dropout;
  MatrixRef hidden = hidden_.resize(x.rows(), first_.out());
  first_.forward(x, hidden);
  if (gated_ || activation_ != Activation::relu) {
    raw_.resize(hidden.rows(), hidden.cols()) = hidden;
  }
  activate(activation_, hidden);
  if (gated_) {
    MatrixRef gates = gates_.resize(hidden.rows(), hidden.cols());
    gate_.forward(x, gates);
    multiply_rows(gates, hidden);
  }
  dropout_.apply(hidden);
  second_.forward(hidden, y);
}

void TrainableFeedForward::backward(const ConstMatrixRef& x, const ConstMatrixRef& dy,
                                    const InputGradient& dx, ActivationBuffer& scratch) const {
  const Index width = hidden_.columns();
  MatrixRef both = scratch.resize(hidden_.rows(), gated_ ? 2 * width : width);
  MatrixRef dhidden = both.leftCols(width), dgates = both.rightCols(width);
  second_.backward(hidden_, dy, {dhidden});
  dropout_.apply(dhidden);
  if (gated_) gate_backward(dhidden, dgates);
  activate_backward(activation_, raw_, gated_ ? raw_ : hidden_, dhidden);
  first_.backward(x, dhidden, dx);
  if (gated_) gate_.backward(x, dgates, {dx.rows, true});
}

void TrainableFeedForward::gate_backward(MatrixRef dhidden, MatrixRef dgates) const {
  dgates = ConstMatrixRef(raw_);
  activate(activation_, dgates);  // the factors that the gates were multiplied with
  multiply_rows(dhidden, dgates);
  multiply_rows(gates_, dhidden);
}

}  // namespace attn
