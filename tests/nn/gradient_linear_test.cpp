// Tests the linear layer's backward pass against numeric gradients of the formula in double.
#include <doctest/doctest.h>

#include <tuple>

#include "nn/linear.h"
#include "numeric_gradient.h"

using namespace attn;
using namespace attn::test;

namespace {

DoubleMatrix affine(const DoubleMatrix& x, const DoubleMatrix& w, const DoubleMatrix& b) {
  return (x * w.transpose()).rowwise() + b.row(0);
}

/// A layer of `in` and `out` columns whose gradients begin as random numbers, and the formula's
/// result for a loss of Σ dy ⊙ y.
struct Case {
  Matrix x;
  Matrix weight;  // [out, in], as in memory
  Matrix bias;
  Matrix dy;
  AddedTo dweight;
  AddedTo dbias;
  DoubleMatrix expected_y;
  DoubleMatrix expected_dx;
  DoubleMatrix expected_dweight;
  DoubleMatrix expected_dbias;

  Case(Index rows, Index in, Index out)
      : x(random_matrix(rows, in, "x")),
        weight(random_matrix(out, in, "w")),
        bias(random_matrix(1, out, "b")),
        dy(random_matrix(rows, out, "dy")),
        dweight(out, in, "dw"),
        dbias(1, out, "db") {
    DoubleMatrix xd = x.cast<double>();
    DoubleMatrix wd = weight.cast<double>();
    DoubleMatrix bd = bias.cast<double>();
    const auto loss = [&] { return weighted(dy, affine(xd, wd, bd)); };
    expected_y = affine(xd, wd, bd);
    expected_dx = numeric_gradient(xd, loss);
    expected_dweight = numeric_gradient(wd, loss);
    expected_dbias = numeric_gradient(bd, loss);
  }
  Linear parameters() { return {view(weight).transposed(), view(bias)}; }
  Linear gradient() { return {view(dweight.now).transposed(), view(dbias.now)}; }
};

}  // namespace

TEST_CASE("linear: gradients are those of x W + b") {
  for (const auto& shape :
       {std::tuple<Index, Index, Index>{7, 5, 37}, {1, 1, 1}, {3, 17, 2}, {13, 33, 19}}) {
    Index rows = 0, in = 0, out = 0;
    std::tie(rows, in, out) = shape;
    CAPTURE(rows);
    Case c(rows, in, out);
    const TrainableLinear layer(c.parameters(), c.gradient(), Backend::panels);
    Embedded x(c.x);
    Embedded y(poisoned(rows, out));
    layer.forward(x.view(), y.view());
    CHECK(largest_error(y.view(), c.expected_y) < 1e-6);
    CHECK(y.untouched_outside());
    Embedded dy(c.dy);
    Embedded dx(poisoned(rows, in));
    layer.backward(x.view(), dy.view(), {dx.view()});
    CHECK(largest_error(dx.view(), c.expected_dx) < 1e-6);
    CHECK(dx.untouched_outside());
    CHECK(largest_error(c.dweight.added(), c.expected_dweight) < 1e-6);
    CHECK(largest_error(c.dbias.added(), c.expected_dbias) < 1e-6);
  }
}

TEST_CASE("linear: dx is added where that is requested") {
  Case c(7, 5, 37);
  const TrainableLinear layer(c.parameters(), c.gradient(), Backend::panels);
  AddedTo dx(7, 5, "dx");
  layer.backward(c.x, c.dy, {dx.now, true});
  CHECK(largest_error(dx.added(), c.expected_dx) < 1e-6);
  CHECK(largest_error(c.dweight.added(), c.expected_dweight) < 1e-6);
}

TEST_CASE("linear: without a bias") {
  Case c(7, 5, 37);
  Linear parameters = c.parameters();
  Linear gradient = c.gradient();
  parameters.bias = gradient.bias = {};
  TrainableLinear layer(parameters, gradient, Backend::panels);
  layer.prepare();
  Matrix y = poisoned(7, 37);
  layer.forward(c.x, y);
  CHECK(largest_error(y, c.x.cast<double>() * c.weight.cast<double>().transpose()) < 1e-6);
  Matrix dx = poisoned(7, 5);
  layer.backward(c.x, c.dy, {dx});
  CHECK(largest_error(dx, c.expected_dx) < 1e-6);
  CHECK(largest_error(c.dweight.added(), c.expected_dweight) < 1e-6);
  CHECK(c.dbias.now == c.dbias.start);
}

TEST_CASE("linear: prepare() reads changed parameters, for both passes") {
  Case c(7, 5, 37);
  const Matrix weight = c.weight;
  const Matrix bias = c.bias;
  c.weight.setRandom();
  c.bias.setRandom();
  TrainableLinear layer(c.parameters(), c.gradient(), Backend::panels);
  c.weight = weight;
  c.bias = bias;
  layer.prepare();
  Matrix y = poisoned(7, 37);
  layer.forward(c.x, y);
  CHECK(largest_error(y, c.expected_y) < 1e-6);
  Matrix dx = poisoned(7, 5);
  layer.backward(c.x, c.dy, {dx});
  CHECK(largest_error(dx, c.expected_dx) < 1e-6);
}

TEST_CASE("linear: layers side by side are one, in both passes") {
  // The memory of three layers of 5 → 7, 3 and 11 columns: all weights, then all biases.
  const Index widths[] = {7, 3, 11};
  const Index out = 21;
  Case c(6, 5, out);
  std::vector<Linear> parameters;
  std::vector<Linear> gradients;
  Index first = 0;
  for (const Index width : widths) {
    const auto part = [&](Matrix& w, Matrix& b) {
      return Linear{row_major(w.data() + first * 5, width, 5).transposed(),
                    row_major(b.data() + first, 1, width)};
    };
    parameters.push_back(part(c.weight, c.bias));
    gradients.push_back(part(c.dweight.now, c.dbias.now));
    first += width;
  }
  const TrainableLinear layer(side_by_side(parameters), side_by_side(gradients), Backend::panels);
  CHECK(layer.in() == 5);
  CHECK(layer.out() == out);
  Matrix y = poisoned(6, out);
  layer.forward(c.x, y);
  CHECK(largest_error(y, c.expected_y) < 1e-6);
  Matrix dx = poisoned(6, 5);
  layer.backward(c.x, c.dy, {dx});
  CHECK(largest_error(dx, c.expected_dx) < 1e-6);
  CHECK(largest_error(c.dweight.added(), c.expected_dweight) < 1e-6);
  CHECK(largest_error(c.dbias.added(), c.expected_dbias) < 1e-6);
}

TEST_CASE("linear: layers that do not lie side by side are refused") {
  Matrix weights = random_matrix(12, 5, "w");
  Matrix biases = random_matrix(1, 12, "b");
  const auto layer = [&](Index first, Index width, Index first_bias) {
    return Linear{row_major(weights.data() + first * 5, width, 5).transposed(),
                  row_major(biases.data() + first_bias, 1, width)};
  };
  CHECK_NOTHROW(side_by_side({layer(0, 4, 0), layer(4, 4, 4), layer(8, 4, 8)}));
  const char* message = "layers to fuse do not lie side by side";
  CHECK_THROWS_WITH_AS(side_by_side({layer(0, 4, 0), layer(5, 4, 4)}), message, std::logic_error);
  CHECK_THROWS_WITH_AS(side_by_side({layer(4, 4, 0), layer(0, 4, 4)}), message, std::logic_error);
  CHECK_THROWS_WITH_AS(side_by_side({layer(0, 4, 0), layer(4, 4, 5)}), message, std::logic_error);
  Linear upright = layer(4, 4, 4);  // [in, out] in memory: its columns are not adjacent rows
  upright.weight = row_major(weights.data() + 20, 5, 4);
  CHECK_THROWS_WITH_AS(side_by_side({layer(0, 4, 0), upright}), message, std::logic_error);
  CHECK_THROWS_WITH_AS(TrainableLinear(upright, upright, Backend::panels),
                       "a trained weight lies [out, in] in memory", std::logic_error);
}
