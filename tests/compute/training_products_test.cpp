// Tests the matrix multiplications of training with shapes that are not multiples of any block
// size: adding x W to y, preparing weights again, and aᵀ b. Results are compared with double
// arithmetic, between numbers of threads, and between a whole multiplication and its parts.
#include <doctest/doctest.h>

#include <cmath>

#include "base/at.h"
#include "compute/matmul.h"
#include "kernel_rows.h"
#include "product_bounds.h"

using namespace attn;
using namespace attn::test;

namespace {

const std::vector<Index> kColumns{1, 2, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 96, 127, 130};

/// Returns rows that are not adjacent in memory, with NaN between them.
Matrix apart(const Matrix& x) {
  Matrix wide = poisoned(x.rows(), x.cols() + 3);
  wide.leftCols(x.cols()) = x;
  return wide;
}

/// Returns columns [0, n) of a matrix as a weight.
Parameter left_columns(Matrix& m, Index n) {
  return {m.data(), m.rows(), n, m.cols(), 1};
}

/// The operands of a multiplication by one table.
struct Product {
  Matrix x, weight, bias, y;
  Product(Index rows, Index in, Index out)
      : x(random_matrix(rows, in, "x")),
        weight(random_matrix(in, out, "w")),
        bias(random_matrix(1, out, "b")),
        y(random_matrix(rows, out, "y")) {}

  /// Returns y + x W + b as one table of kernels computes it, `part` rows of W at a time.
  Matrix added(const Kernels& k, Index part) const {
    const Index in = x.cols();
    const Index out = y.cols();
    const Index panels = (out + k.panel_width - 1) / k.panel_width;
    Matrix packed = Matrix::Zero(panels * in, k.panel_width);
    for (Index i = 0; i < in; ++i) {
      for (Index j = 0; j < out; ++j) {
        packed(j / k.panel_width * in + i, j % k.panel_width) = weight(i, j);
      }
    }
    Matrix result = y;
    for (Index start = 0; start < in; start += part) {
      const PanelMatmul p{.x = x.data() + start,
                          .x_stride = in,
                          .rows = x.rows(),
                          .in = std::min(part, in - start),
                          .panels = packed.data() + start * k.panel_width,
                          .out = out,
                          .bias = start + part >= in ? bias.data() : nullptr,
                          .y = result.data(),
                          .y_stride = out,
                          .panel_rows = in,
                          .add = true};
      k.panel_matmul(p, 0, panels);
    }
    return result;
  }
};

}  // namespace

TEST_CASE("products written and added, also in parts, on odd shapes") {
  for (const Index in : {1, 37, 1029, 2053}) {
    Matrix weight = random_matrix(in, 130, "w");
    Matrix bias = random_matrix(1, 130, "b");
    const Matrix x = apart(random_matrix(13, in, "x"));
    const Eigen::MatrixXd products =
        (x.leftCols(in).cast<double>() * weight.cast<double>()).rowwise() +
        bias.row(0).cast<double>();
    const Matrix start = random_matrix(13, 130, "y");
    PackedLinear product({left_columns(weight, 130)}, {left_columns(bias, 130)}, Backend::panels);
    for (const Index out : kColumns) {
      product.update({left_columns(weight, out)}, {left_columns(bias, out)});
      for (Index rows = 1; rows <= 13; ++rows) {
        CAPTURE(in);
        CAPTURE(out);
        CAPTURE(rows);
        const Eigen::MatrixXd expected = products.topLeftCorner(rows, out);
        Matrix y = poisoned(rows, out + 2);
        product(x.topLeftCorner(rows, in), y.leftCols(out));
        CHECK(near(y.leftCols(out), expected, in));
        y.leftCols(out) = start.topLeftCorner(rows, out);
        product.add(x.topLeftCorner(rows, in), y.leftCols(out));
        CHECK(near(y.leftCols(out), start.topLeftCorner(rows, out).cast<double>() + expected, in));
        CHECK(y.rightCols(2).array().isNaN().all());
      }
    }
  }
}

TEST_CASE("a product taken in parts has the bits of one go, in every table") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index in : {1024, 1025, 2053}) {
      const Product product(13, in, 67);
      CHECK(same_bits(product.added(*k, 1024), product.added(*k, in)));
    }
  }
}

TEST_CASE("many rows of a long product have the bits of each row alone, added too") {
  for (const Index in : {1024, 1025, 2053}) {
    Product p(29, in, 130);
    const PackedLinear product({row_major(p.weight.data(), in, 130)},
                               {row_major(p.bias.data(), 1, 130)}, Backend::panels);
    for (const bool add : {false, true}) {
      const auto run = [&](const ConstMatrixRef& x, MatrixRef y) {
        if (add) {
          product.add(x, y);
        } else {
          product(x, y);
        }
      };
      Matrix together = p.y;
      run(p.x, together);  // more than one block of rows, so computed in parts
      Matrix alone = p.y;
      for (Index t = 0; t < p.x.rows(); ++t) run(p.x.row(t), alone.row(t));
      CHECK(same_bits(together, alone));
      if (add) CHECK(same_bits(together, p.added(kernels(), in)));
    }
  }
}

TEST_CASE("transposed products are added, on odd shapes") {
  for (const Index tokens : {1, 5, 127, 128, 129, 301}) {
    const Matrix a = apart(random_matrix(tokens, 401, "a"));
    const Matrix b = apart(random_matrix(tokens, 130, "b"));
    const Eigen::MatrixXd products =
        a.leftCols(401).cast<double>().transpose() * b.leftCols(130).cast<double>();
    const Matrix start = random_matrix(401, 130, "c");
    for (const Index columns : kColumns) {
      for (const Index rows : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 97, 401}) {
        CAPTURE(tokens);
        CAPTURE(columns);
        CAPTURE(rows);
        Matrix c = apart(start.topLeftCorner(rows, columns));
        add_transposed_matmul(a.leftCols(rows), b.leftCols(columns), c.leftCols(columns),
                              Backend::panels);
        CHECK(near(c.leftCols(columns),
                   start.topLeftCorner(rows, columns).cast<double>() +
                       products.topLeftCorner(rows, columns),
                   tokens));
        CHECK(c.rightCols(3).array().isNaN().all());
      }
    }
  }
}

TEST_CASE("threads change no bit of our own product, a transposed product or a prepared weight") {
  const Matrix a = random_matrix(301, 421, "a");
  const Matrix b = random_matrix(301, 130, "b");
  Matrix weight = random_matrix(130, 421, "w");  // stored transposed
  Matrix bias = random_matrix(1, 130, "bias");
  const auto run = [&](int threads, Index rows) {
    set_threads(threads);
    Matrix transposed = random_matrix(421, 130, "c");
    add_transposed_matmul(a, b, transposed, Backend::panels);
    PackedLinear product({row_major(weight.data(), 130, 421).transposed()},
                         {row_major(bias.data(), 1, 130)}, Backend::panels);
    product.update({row_major(weight.data(), 130, 421).transposed()},
                   {row_major(bias.data(), 1, 130)});
    Matrix y = poisoned(rows, 130);
    product(a.topRows(rows), y);
    product.add(a.topRows(rows), y);
    set_threads(1);
    Matrix both(421 + rows, 130);
    both << transposed, y;
    return both;
  };
  for (const Index rows : {1, 13, 100, 301}) {
    const Matrix one = run(1, rows);
    CHECK(one.allFinite());
    for (const int threads : {2, 3, 7}) {
      CAPTURE(rows);
      CAPTURE(threads);
      CHECK(same_bits(run(threads, rows), one));
    }
  }
}

TEST_CASE("a prepared product is a copy until update(), and update() refuses what does not fit") {
  Matrix weight = random_matrix(20, 33, "w");
  Matrix bias = random_matrix(1, 33, "b");
  const Matrix x = random_matrix(5, 20, "x");
  const auto w = row_major(weight.data(), 20, 33);
  const auto b = row_major(bias.data(), 1, 33);
  PackedLinear product({w}, {b}, Backend::panels);
  Matrix before = poisoned(5, 33);
  product(x, before);
  weight *= 2.0F;
  bias *= 2.0F;
  Matrix y = poisoned(5, 33);
  product(x, y);
  CHECK(same_bits(y, before));
  product.update({w}, {b});
  product(x, y);
  CHECK(same_bits(y, before * 2.0F));  // a power of two does not change the rounding
  CHECK_THROWS_AS(product.update({}, {}), std::logic_error);
  CHECK_THROWS_AS(product.update({w, w.transposed()}, {}), std::logic_error);
  CHECK_THROWS_AS(product.update({w}, {b, b}), std::logic_error);
  const Matrix a = Matrix::Zero(4, 3);
  Matrix c = Matrix::Zero(3, 3);
  CHECK_NOTHROW(add_transposed_matmul(a, a, c, Backend::panels));
  // Empty operands: no rows of c, no columns, no rows of a and b.
  Matrix nothing(0, 3);
  CHECK_NOTHROW(add_transposed_matmul(a.leftCols(0), a, nothing, Backend::panels));
  CHECK_NOTHROW(add_transposed_matmul(a, a.leftCols(0), c.leftCols(0), Backend::panels));
  CHECK_NOTHROW(add_transposed_matmul(a.topRows(0), a.topRows(0), c, Backend::panels));
  CHECK(c == Matrix::Zero(3, 3));
  CHECK_THROWS_AS(add_transposed_matmul(a, a.topRows(3), c, Backend::panels), std::logic_error);
  CHECK_THROWS_AS(add_transposed_matmul(a, a, c.topRows(2), Backend::panels), std::logic_error);
  CHECK_THROWS_AS(add_transposed_matmul(a, a, c.leftCols(2), Backend::panels), std::logic_error);
}
