// Tests layer norm, feed-forward and embeddings against double arithmetic.
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "nn/embedding.h"
#include "nn/feed_forward.h"
#include "nn/layer_norm.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::poisoned;
using attn::test::random_matrix;
using attn::test::view;

TEST_CASE("layer norm normalises each row alone") {
  Matrix w = random_matrix(1, 13, "w");
  Matrix b = random_matrix(1, 13, "b");
  const LayerNorm norm{view(w), view(b)};
  const Matrix x = random_matrix(4, 13, "x", 5.0F);
  Matrix out = poisoned(4, 13);
  norm.forward(x, out);
  for (Index t = 0; t < 4; ++t) {
    const Eigen::RowVectorXd d = x.row(t).cast<double>();
    const double scale = 1.0 / std::sqrt((d.array() - d.mean()).square().mean() + 1e-5);
    for (Index j = 0; j < 13; ++j) {
      const double expected = (d(j) - d.mean()) * scale * w(0, j) + b(0, j);
      CHECK(out(t, j) == doctest::Approx(expected).epsilon(1e-5));
    }
  }
  Matrix in_place = x;
  norm.forward(in_place, in_place);
  CHECK(in_place == out);
}

TEST_CASE("feed-forward is two products with the activation between them") {
  Matrix w1 = random_matrix(6, 11, "w1");
  Matrix b1 = random_matrix(1, 11, "b1");
  Matrix w2 = random_matrix(11, 6, "w2");
  Matrix b2 = random_matrix(1, 6, "b2");
  const Matrix x = random_matrix(5, 6, "x", 2.0F);
  const auto activations = {
      std::pair{Activation::relu, +[](double v) { return std::max(v, 0.0); }},
      {Activation::gelu, +[](double v) { return v * 0.5 * std::erfc(-v / std::sqrt(2.0)); }},
      {Activation::swish, +[](double v) { return v / (1.0 + std::exp(-v)); }},
      {Activation::gelu_new, +[](double v) {
         return 0.5 * v * (1 + std::tanh(std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v)));
       }}};
  for (const auto& [activation, function] : activations) {
    FeedForward layer;
    layer.first = {view(w1), view(b1)};
    layer.second = {view(w2), view(b2)};
    layer.activation = activation;
    layer.prepare(Backend::panels);
    Matrix hidden = poisoned(5, 11);
    Matrix out = poisoned(5, 6);
    layer.forward(x, hidden, out);
    const Eigen::MatrixXd h = ((x * w1).rowwise() + b1.row(0)).cast<double>().unaryExpr(function);
    const Eigen::MatrixXd expected = (h * w2.cast<double>()).rowwise() + b2.row(0).cast<double>();
    CHECK((out.cast<double>() - expected).cwiseAbs().maxCoeff() < 1e-5);
    for (const Index rows : {1, 2, 4}) {  // rows that the buffer holds at a time
      Matrix few = poisoned(rows, 11);
      Matrix again = poisoned(5, 6);
      layer.forward(x, few, again);
      CHECK(again == out);
    }
  }
}

TEST_CASE("sinusoids: sines in the first half, cosines in the second, odd widths too") {
  for (const Index d : {4, 12, 15, 1}) {
    const Matrix table = sinusoids(50, d);
    const Index half = (d + 1) / 2;
    for (const Index p : {0, 1, 17, 49}) {
      for (Index j = 0; j < d; ++j) {
        const Index i = j < half ? j : j - half;
        const double angle =
            static_cast<double>(p) /
            std::pow(10000.0, 2.0 * static_cast<double>(i) / static_cast<double>(d));
        const double expected = j < half ? std::sin(angle) : std::cos(angle);
        CHECK(table(p, j) == doctest::Approx(expected).epsilon(1e-6).scale(1));
      }
    }
  }
}

TEST_CASE("embedding scales the token and adds the position") {
  Matrix table = random_matrix(5, 3, "table");
  Matrix positions = random_matrix(4, 3, "positions");
  const std::vector<int> ids{4, 0, 4};
  const std::vector<Index> places{0, 1, 3};
  Matrix out = poisoned(3, 3);
  embed({view(table), view(positions), 1.5F}, {ids, places}, out);
  for (Index t = 0; t < 3; ++t) {
    const auto s = to_size(t);
    CHECK(out.row(t) == (table.row(ids[s]) * 1.5F + positions.row(places[s])).eval());
  }
  const std::vector<int> outside{5};
  const std::vector<Index> first{0};
  CHECK_THROWS_AS(embed({view(table), view(positions), 1.0F}, {outside, first}, out),
                  std::logic_error);
}

TEST_CASE("a residual adds every row to the block it is given, and nothing beside it") {
  for (const Index rows : {1, 2, 17}) {
    const Matrix x = random_matrix(rows, 13, "x");
    const Matrix before = random_matrix(rows, 20, "y");
    Matrix y = before;
    add_rows(x, y.middleCols(3, 13));
    Matrix expected = before;
    expected.middleCols(3, 13) += x;
    CHECK(y == expected);
  }
}
