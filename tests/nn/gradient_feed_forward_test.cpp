// Tests the feed-forward layer's backward pass against numeric gradients of the formula in double.
#include <doctest/doctest.h>

#include "nn/feed_forward.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

constexpr Activation kActivations[] = {Activation::relu, Activation::gelu, Activation::swish,
                                       Activation::gelu_new};

double activated(Activation activation, double v) {
  if (activation == Activation::relu) return std::max(v, 0.0);
  if (activation == Activation::gelu) return v * 0.5 * std::erfc(-v / std::sqrt(2.0));
  if (activation == Activation::gelu_new) {
    return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
  }
  return v / (1 + std::exp(-v));
}

/// The formula and parameters of D → F → D in double; without `wg` there is no gate.
struct Reference {
  Activation activation;
  DoubleMatrix x, w1, b1, w2, b2, mask;
  DoubleMatrix wg = {}, bg = {};

  DoubleMatrix output() const {
    DoubleMatrix hidden = (x * w1.transpose()).rowwise() + b1.row(0);
    hidden = hidden.unaryExpr([this](double v) { return activated(activation, v); });
    if (wg.size() > 0) {
      const DoubleMatrix gates = (x * wg.transpose()).rowwise() + bg.row(0);
      hidden = hidden.cwiseProduct(gates);
    }
    return (hidden.cwiseProduct(mask) * w2.transpose()).rowwise() + b2.row(0);
  }
};

void check_feed_forward(Activation activation, const Dropout& dropout, bool gated) {
  const Index rows = 7;
  const Index d = 5;
  const Index f = 37;
  const Matrix x = random_matrix(rows, d, "x", 3.0F);
  Matrix w1 = random_matrix(f, d, "w1");
  Matrix b1 = random_matrix(1, f, "b1");
  Matrix w2 = random_matrix(d, f, "w2");
  Matrix b2 = random_matrix(1, d, "b2");
  const Matrix dy = random_matrix(rows, d, "dy");
  Reference r{activation,        x.cast<double>(),  w1.cast<double>(),        b1.cast<double>(),
              w2.cast<double>(), b2.cast<double>(), mask_of(dropout, rows, f)};
  Matrix wg = random_matrix(f, d, "wg");
  Matrix bg = random_matrix(1, f, "bg");
  if (gated) r.wg = wg.cast<double>();
  if (gated) r.bg = bg.cast<double>();
  const auto loss = [&] { return weighted(dy, r.output()); };

  AddedTo dwg(f, d, "dwg");
  AddedTo dbg(1, f, "dbg");
  AddedTo dw1(f, d, "dw1");
  AddedTo db1(1, f, "db1");
  AddedTo dw2(d, f, "dw2");
  AddedTo db2(1, d, "db2");
  FeedForward parameters;
  parameters.first = {view(w1).transposed(), view(b1)};
  parameters.second = {view(w2).transposed(), view(b2)};
  parameters.activation = activation;
  FeedForward gradient;
  gradient.first = {view(dw1.now).transposed(), view(db1.now)};
  gradient.second = {view(dw2.now).transposed(), view(db2.now)};
  if (gated) parameters.gate = {view(wg).transposed(), view(bg)};
  if (gated) gradient.gate = {view(dwg.now).transposed(), view(dbg.now)};
  TrainableFeedForward layer(parameters, gradient, Backend::panels);
  ActivationBuffer scratch;
  for (const bool add :
       {false, true}) {  // the second time with the buffers that the first left behind
    dwg.now = dwg.start;
    dbg.now = dbg.start;
    dw1.now = dw1.start;
    dw2.now = dw2.start;
    db1.now = db1.start;
    db2.now = db2.start;
    Embedded y(poisoned(rows, d));
    layer.forward(x, dropout, y.view());
    CHECK(largest_error(y.view(), r.output()) < 2e-6);
    AddedTo dx(rows, d, "dx");
    if (!add) dx.now = poisoned(rows, d);
    layer.backward(x, dy, {dx.now, add}, scratch);
    CHECK(largest_error(add ? dx.added() : dx.now, numeric_gradient(r.x, loss)) < 2e-6);
    CHECK(largest_error(dw1.added(), numeric_gradient(r.w1, loss)) < 2e-6);
    CHECK(largest_error(db1.added(), numeric_gradient(r.b1, loss)) < 2e-6);
    CHECK(largest_error(dw2.added(), numeric_gradient(r.w2, loss)) < 2e-6);
    CHECK(largest_error(db2.added(), numeric_gradient(r.b2, loss)) < 2e-6);
    if (!gated) continue;
    CHECK(largest_error(dwg.added(), numeric_gradient(r.wg, loss)) < 2e-6);
    CHECK(largest_error(dbg.added(), numeric_gradient(r.bg, loss)) < 2e-6);
  }
}

}  // namespace

TEST_CASE("feed-forward: gradients are those of the formula, for every activation") {
  for (const Activation activation : kActivations) {
    CAPTURE(to_string(activation));
    check_feed_forward(activation, {}, false);
    check_feed_forward(activation, {}, true);
  }
}

TEST_CASE("feed-forward: gradients through activation dropout") {
  for (const Activation activation : kActivations) {
    for (const float probability : {0.1F, 0.5F}) {
      CAPTURE(to_string(activation));
      CAPTURE(probability);
      check_feed_forward(activation, {probability, 77}, false);
      check_feed_forward(activation, {probability, 77}, true);
    }
  }
}

TEST_CASE("feed-forward: a smaller batch after a larger one gives what it gives alone") {
  for (const Activation activation : kActivations) {
    Matrix w1 = random_matrix(37, 5, "w1");
    Matrix b1 = random_matrix(1, 37, "b1");
    Matrix w2 = random_matrix(5, 37, "w2");
    Matrix b2 = random_matrix(1, 5, "b2");
    Matrix dw1 = Matrix::Zero(37, 5);
    Matrix db1 = Matrix::Zero(1, 37);
    Matrix dw2 = Matrix::Zero(5, 37);
    Matrix db2 = Matrix::Zero(1, 5);
    FeedForward parameters;
    parameters.first = {view(w1).transposed(), view(b1)};
    parameters.second = {view(w2).transposed(), view(b2)};
    parameters.activation = activation;
    FeedForward gradient;
    gradient.first = {view(dw1).transposed(), view(db1)};
    gradient.second = {view(dw2).transposed(), view(db2)};
    const auto run = [&](TrainableFeedForward& layer, ActivationBuffer& scratch, Index rows) {
      const Matrix x = random_matrix(rows, 5, "x");
      const Matrix dy = random_matrix(rows, 5, "dy");
      Matrix both = poisoned(2 * rows, 5);
      layer.forward(x, {0.3F, 5}, both.topRows(rows));
      layer.backward(x, dy, {both.bottomRows(rows)}, scratch);
      return both;
    };
    TrainableFeedForward fresh(parameters, gradient, Backend::panels);
    TrainableFeedForward used(parameters, gradient, Backend::panels);
    ActivationBuffer scratch;
    ActivationBuffer used_scratch;
    run(used, used_scratch, 41);
    CHECK(run(used, used_scratch, 7) == run(fresh, scratch, 7));
  }
}
