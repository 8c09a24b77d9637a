// Tests every table of kernels against double arithmetic, with lengths that are not multiples of
// any block size.
#include "compute/kernels/kernels.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "base/at.h"
#include "kernel_rows.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::kLengths;
using attn::test::poisoned;
using attn::test::random_matrix;

TEST_CASE("softmax matches double arithmetic and sums to 1") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      Matrix row = random_matrix(1, n, "softmax", 20.0F);
      const Matrix x = row;
      k->softmax(row.data(), n);
      double sum = 0;
      for (Index i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x(0, i)) - x.maxCoeff());
      for (Index i = 0; i < n; ++i) {
        const double expected = std::exp(static_cast<double>(x(0, i)) - x.maxCoeff()) / sum;
        CHECK(row(0, i) == doctest::Approx(expected).epsilon(2e-6));
      }
      CHECK(row.sum() == doctest::Approx(1.0).epsilon(1e-6));
    }
  }
}

TEST_CASE("softmax makes masked cells exactly zero, also in a row of nothing else") {
  const float minus_infinity = -std::numeric_limits<float>::infinity();
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    std::vector<float> row(19, 0.5F);
    row[3] = row[18] = minus_infinity;
    k->softmax(row.data(), 19);
    CHECK(row[3] == 0.0F);
    CHECK(row[18] == 0.0F);
    CHECK(row[0] == doctest::Approx(1.0 / 17).epsilon(1e-6));
    std::vector<float> nothing(5, minus_infinity);
    k->softmax(nothing.data(), 5);
    for (const float w : nothing) CHECK(w == 0.0F);
  }
}

TEST_CASE("softmax stays finite for scores of any size") {
  for (const Kernels* k : all_kernels()) {
    std::vector<float> row{3e38F, -3e38F, 0.0F, 88.0F};
    k->softmax(row.data(), 4);
    CHECK(row[0] == 1.0F);
    CHECK(row[1] == 0.0F);
  }
}

TEST_CASE("NaN and infinity are never taken for numbers") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      for (const float bad : {nan, infinity, -infinity}) {
        for (const Index at : {Index{0}, n / 2, n - 1}) {
          Matrix x = random_matrix(1, n, "bad", 30.0F);
          x(0, at) = bad;
          float maximum = 0;
          float log_sum = 0;
          CHECK(!k->log_sum_exp(x.data(), n, &maximum, &log_sum));
          if (bad == -infinity) continue;
          CHECK(std::isnan(log_sum));
          Matrix weights = x;
          k->softmax(weights.data(), n);
          CHECK(weights.array().isNaN().all());
          for (const auto f :
               {&Kernels::relu, &Kernels::gelu, &Kernels::swish, &Kernels::gelu_new}) {
            Matrix y = x;
            (k->*f)(y.data(), n);
            CHECK(!std::isfinite(y(0, at)));
          }
          CHECK(!std::isfinite(k->cross_entropy(x.data(), n, 0, 0.0F, 1.0F).loss));
        }
      }
    }
  }
}

TEST_CASE("log_sum_exp, arg_max and find_above") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      const Matrix x = random_matrix(1, n, "lse", 30.0F);
      float maximum = 0;
      float log_sum = 0;
      CHECK(k->log_sum_exp(x.data(), n, &maximum, &log_sum));
      double sum = 0;
      for (Index i = 0; i < n; ++i) sum += std::exp(static_cast<double>(x(0, i)) - x.maxCoeff());
      CHECK(maximum == x.maxCoeff());
      CHECK(log_sum == doctest::Approx(std::log(sum)).epsilon(1e-6));
      Index best = 0;
      x.row(0).maxCoeff(&best);
      CHECK(k->arg_max(x.data(), n) == best);
      CHECK(k->find_above(x.data(), 0, n, x.maxCoeff()) == n);
      const float just_below = std::nextafter(x.maxCoeff(), -1e30F);
      CHECK(k->find_above(x.data(), 0, n, just_below) == best);
      // Among equal numbers the first one counts, and 0 equals −0. If all are forbidden, the first
      // one is returned.
      Matrix equals = Matrix::Constant(1, n, -1.0F);
      equals(0, n / 2) = -0.0F;
      equals(0, n - 1) = 0.0F;
      CHECK(k->arg_max(equals.data(), n) == n / 2);
      equals.setConstant(-INFINITY);
      CHECK(k->arg_max(equals.data(), n) == 0);
      equals(0, n - 1) = std::numeric_limits<float>::lowest();
      CHECK(k->arg_max(equals.data(), n) == n - 1);
      equals(0, n / 2) = INFINITY;
      CHECK(k->arg_max(equals.data(), n) == n / 2);
    }
  }
}

TEST_CASE("layer_norm matches double arithmetic") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      const Matrix x = random_matrix(1, n, "norm", 3.0F);
      const Matrix w = random_matrix(1, n, "weight");
      const Matrix b = random_matrix(1, n, "bias");
      Matrix out = poisoned(1, n);
      k->layer_norm({w.data(), b.data(), 1e-5F, n}, x.data(), out.data());
      const Eigen::RowVectorXd d = x.row(0).cast<double>();
      const double variance = (d.array() - d.mean()).square().mean();
      for (Index i = 0; i < n; ++i) {
        const double expected = (d(i) - d.mean()) / std::sqrt(variance + 1e-5) * w(0, i) + b(0, i);
        CHECK(out(0, i) == doctest::Approx(expected).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("rms_norm and multiply match double arithmetic") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      const Matrix x = random_matrix(1, n, "norm", 3.0F);
      const Matrix w = random_matrix(1, n, "weight");
      Matrix out = poisoned(1, n), product = x;
      k->rms_norm({w.data(), nullptr, 1e-3F, n}, x.data(), out.data());
      k->multiply(w.data(), product.data(), n);
      const double square = x.row(0).cast<double>().array().square().mean();
      for (Index i = 0; i < n; ++i) {
        const double value = static_cast<double>(x(0, i));
        const double expected = value / std::sqrt(square + 1e-3) * static_cast<double>(w(0, i));
        CHECK(static_cast<double>(out(0, i)) == doctest::Approx(expected).epsilon(1e-6));
        CHECK(product(0, i) == x(0, i) * w(0, i));
      }
    }
  }
}

TEST_CASE("activations match double arithmetic") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    const Index n = 2001;
    Matrix x(1, n);
    for (Index i = 0; i < n; ++i) x(0, i) = static_cast<float>(i - 1000) * 0.02F;  // −20 … 20
    Matrix relu = x;
    Matrix gelu = x;
    Matrix swish = x;
    Matrix gelu_new = x;
    k->gelu_new(gelu_new.data(), n);
    k->relu(relu.data(), n);
    k->gelu(gelu.data(), n);
    k->swish(swish.data(), n);
    double worst_gelu = 0;
    double worst_swish = 0;
    double worst_gelu_new = 0;
    for (Index i = 0; i < n; ++i) {
      const double v = x(0, i);
      CHECK(relu(0, i) == std::max(0.0F, x(0, i)));
      const double phi = 0.5 * std::erfc(-v / std::sqrt(2.0));
      worst_gelu = std::max(worst_gelu, std::abs(gelu(0, i) - v * phi));
      const double u = std::sqrt(2 / M_PI) * (v + 0.044715 * v * v * v);
      worst_gelu_new =
          std::max(worst_gelu_new, std::abs(gelu_new(0, i) - 0.5 * v * (1 + std::tanh(u))));
      worst_swish = std::max(worst_swish, std::abs(swish(0, i) - v / (1 + std::exp(-v))));
    }
    CHECK(worst_gelu < 2e-6);
    CHECK(worst_swish < 2e-6);
    CHECK(worst_gelu_new < 2e-6);
  }
}

TEST_CASE("dot products and weighted sums gather rows, for one query or several") {
  const std::vector<std::int32_t> order{3, 3, 0, 19, 7, 1, 2, 15, 4, 11, 6};
  const auto n = std::ssize(order);
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index width : {1, 5, 16, 21, 64, 67, 128}) {
      CAPTURE(width);
      const Matrix rows = random_matrix(20, width + 3, "rows");
      const GatheredRows gathered{rows.data(), rows.outerStride(), order.data()};
      Eigen::MatrixXd seen(n, width);
      for (Index j = 0; j < n; ++j) seen.row(j) = rows.row(at(order, j)).head(width).cast<double>();
      for (const Index count : {1, 2, 3, 4, 7, 9}) {
        CAPTURE(count);
        const Matrix queries = random_matrix(count, width + 1, "queries");
        const Matrix weights = random_matrix(count, n + 2, "weights");
        Matrix dots = poisoned(count, n + 3), sums = poisoned(count, width + 2);
        k->dot_products({queries.data(), queries.outerStride(), count}, gathered, n, width,
                        {dots.data(), dots.outerStride()});
        k->weighted_sums({weights.data(), weights.outerStride(), count}, gathered, n, width,
                         {sums.data(), sums.outerStride()});
        const Eigen::MatrixXd q = queries.leftCols(width).cast<double>();
        const Eigen::MatrixXd w = weights.leftCols(n).cast<double>();
        CHECK((dots.leftCols(n).cast<double>() - q * seen.transpose()).cwiseAbs().maxCoeff() <
              2e-5);
        CHECK((sums.leftCols(width).cast<double>() - w * seen).cwiseAbs().maxCoeff() < 2e-5);
        CHECK(dots.rightCols(3).array().isNaN().all());
        CHECK(sums.rightCols(2).array().isNaN().all());
        // Each row has the same bits as when it is computed alone.
        for (Index i = 0; i < count; ++i) {
          Matrix alone = poisoned(1, n), sum = poisoned(1, width);
          k->dot_products(queries.row(i).data(), gathered, n, width, {alone.data()});
          k->weighted_sums(weights.row(i).data(), gathered, n, width, {sum.data()});
          CHECK((dots.row(i).leftCols(n) == alone.row(0)));
          CHECK((sums.row(i).leftCols(width) == sum.row(0)));
        }
      }
    }
  }
}
