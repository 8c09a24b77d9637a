// Tests the training kernels of every table against double arithmetic, with lengths that are not
// multiples of any block size.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "compute/kernels/kernels.h"
#include "kernel_rows.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Returns the largest difference of a row from the expected one; ∞ for NaN.
double distance(const Row& row, const std::function<double(Index)>& expected) {
  if (!row.untouched_around()) return INFINITY;
  double largest = 0;
  for (Index i = 0; i < row.size(); ++i) {
    const double difference = std::abs(row.at(i) - expected(i));
    if (!(difference <= largest)) largest = difference;
  }
  return std::isnan(largest) ? INFINITY : largest;
}

double mean(Index n, const std::function<double(Index)>& f) {
  double sum = 0;
  for (Index i = 0; i < n; ++i) sum += f(i);
  return sum / static_cast<double>(n);
}

/// Calls `check` for every table and length.
void for_each_case(const std::function<void(const Kernels&, Index)>& check) {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      CAPTURE(n);
      check(*k, n);
    }
  }
}

}  // namespace

TEST_CASE("dropout keeps the elements that the hash says") {
  for_each_case([](const Kernels& k, Index n) {
    const std::uint64_t key = 0xFEDCBA9876543210U;
    for (const std::uint32_t threshold : {0U, 1U << 30, 0x80000000U, 0xE6666666U, 0xFFFFFFFFU}) {
      for (const std::uint32_t first :
           {0U, 5U, 0x7FFFFFF0U, 0xFFFFFFF0U}) {  // the last one wraps around
        Row x(n, "x", 3.0F);
        const Row before = x;
        k.dropout({key, threshold, 1.25F}, first, x.data(), n);
        CHECK(distance(x, [&](Index i) {
                const auto number = first + static_cast<std::uint32_t>(i);
                const bool kept = dropout_hash(key, number) >= threshold;
                return kept ? static_cast<double>(before[i] * 1.25F) : 0.0;
              }) == 0);
      }
    }
  });
}

TEST_CASE("softmax_backward matches double arithmetic") {
  for_each_case([](const Kernels& k, Index n) {
    Row w(n, "w", 4.0F);
    k.softmax(w.data(), n);
    Row dw(n, "dw");
    const Row d = dw;
    k.softmax_backward(w.data(), 0.4F, dw.data(), n);
    const double centre =
        static_cast<double>(n) * mean(n, [&](Index i) { return w.at(i) * d.at(i); });
    CHECK(distance(dw, [&](Index i) { return w.at(i) * (d.at(i) - centre) * 0.4; }) < 3e-7);
  });
}

TEST_CASE("layer_norm_backward matches double arithmetic and adds to the parameters' gradients") {
  for_each_case([](const Kernels& k, Index n) {
    Row x(n, "x", 3.0F);
    Row w(n, "w");
    Row dy(n, "dy");
    Row dx = Row::poisoned(n);
    Row dw(n, "dw");
    Row db(n, "db");
    const Row dw_before = dw;
    const Row db_before = db;
    k.layer_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), dy.data(), dx.data(),
                          {dw.data(), db.data()});

    const double centre = mean(n, [&](Index i) { return x.at(i); });
    const double variance = mean(n, [&](Index i) { return std::pow(x.at(i) - centre, 2); });
    const double scale = 1 / std::sqrt(variance + static_cast<double>(1e-5F));
    const auto normal = [&](Index i) { return (x.at(i) - centre) * scale; };
    const auto g = [&](Index i) { return dy.at(i) * w.at(i); };
    const double g_mean = mean(n, g);
    const double g_normal = mean(n, [&](Index i) { return g(i) * normal(i); });
    const double size = std::max(1.0, scale);
    CHECK(distance(dx, [&](Index i) { return (g(i) - g_mean - normal(i) * g_normal) * scale; }) <
          2e-6 * size);
    CHECK(distance(dw, [&](Index i) { return dw_before.at(i) + dy.at(i) * normal(i); }) < 2e-6);
    CHECK(distance(db, [&](Index i) { return db_before.at(i) + dy.at(i); }) < 2e-6);
    k.layer_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), dy.data(), dy.data(),
                          {dw.data(), db.data()});
    CHECK(dy == dx);  // in place
  });
}

TEST_CASE("rms_norm_backward matches double arithmetic and adds to the weight's gradient") {
  for_each_case([](const Kernels& k, Index n) {
    Row x(n, "x", 3.0F);
    Row w(n, "w");
    Row dy(n, "dy");
    Row dx = Row::poisoned(n);
    Row dw(n, "dw");
    const Row dw_before = dw;
    k.rms_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), dy.data(), dx.data(), dw.data());

    const double squares = mean(n, [&](Index i) { return x.at(i) * x.at(i); });
    const double scale = 1 / std::sqrt(squares + static_cast<double>(1e-5F));
    const auto normal = [&](Index i) { return x.at(i) * scale; };
    const auto g = [&](Index i) { return dy.at(i) * w.at(i); };
    const double g_normal = mean(n, [&](Index i) { return g(i) * normal(i); });
    const double size = std::max(1.0, scale);
    CHECK(distance(dx, [&](Index i) { return (g(i) - normal(i) * g_normal) * scale; }) <
          2e-6 * size);
    CHECK(distance(dw, [&](Index i) { return dw_before.at(i) + dy.at(i) * normal(i); }) < 2e-6);
    k.rms_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), dy.data(), dy.data(), dw.data());
    CHECK(dy == dx);  // in place
  });
}

TEST_CASE("slopes of the activations match double arithmetic") {
  for_each_case([](const Kernels& k, Index n) {
    for (const float bound : {3.0F, 30.0F}) {
      Row x(n, "x", bound);
      Row relu(n, "dy");
      Row gelu(n, "dy");
      Row swish(n, "dy");
      Row gelu_new(n, "dy");
      const Row dy = relu;
      k.gelu_backward(x.data(), gelu.data(), n);
      k.swish_backward(x.data(), swish.data(), n);
      k.gelu_new_backward(x.data(), gelu_new.data(), n);
      CHECK(distance(gelu_new, [&](Index i) {
              const double v = x.at(i);
              const double factor = std::sqrt(2 / M_PI);
              const double t = std::tanh(factor * (v + 0.044715 * v * v * v));
              const double du = factor * (1 + 3 * 0.044715 * v * v);
              return dy.at(i) * 0.5 * (1 + t + v * (1 - t * t) * du);
            }) < 2e-6);
      CHECK(distance(gelu, [&](Index i) {
              const double v = x.at(i);
              const double density = std::exp(-v * v / 2) / std::sqrt(2 * M_PI);
              return dy.at(i) * (0.5 * std::erfc(-v / std::sqrt(2.0)) + v * density);
            }) < 2e-6);
      CHECK(distance(swish, [&](Index i) {
              const double s = 1 / (1 + std::exp(-x.at(i)));
              return dy.at(i) * s * (1 + x.at(i) * (1 - s));
            }) < 2e-6);
      k.relu(x.data(), n);
      if (n > 3) x.data()[3] = -0.0F;
      k.relu_backward(x.data(), relu.data(), n);
      CHECK(distance(relu, [&](Index i) { return x[i] > 0 ? dy.at(i) : 0.0; }) == 0);
    }
  });
}

TEST_CASE("cross_entropy matches double arithmetic") {
  for_each_case([](const Kernels& k, Index n) {
    for (const float smoothing : {0.0F, 0.1F}) {
      for (const float bound : {1.0F, 50.0F}) {
        Row row(n, "logits", bound);
        const Row x = row;
        const Index target = (n * 5) / 7;
        const TokenLoss found = k.cross_entropy(row.data(), n, target, smoothing, 0.5F);
        double top = x.at(0);
        for (Index i = 0; i < n; ++i) top = std::max(top, x.at(i));
        const double sum =
            static_cast<double>(n) * mean(n, [&](Index i) { return std::exp(x.at(i) - top); });
        const double log_total = top + std::log(sum);
        const double e = static_cast<double>(smoothing);
        const double expected_nll = log_total - x.at(target);
        const double uniform = log_total - mean(n, [&](Index i) { return x.at(i); });
        CHECK(found.nll == doctest::Approx(expected_nll).epsilon(1e-6).scale(10));
        CHECK(found.loss ==
              doctest::Approx((1 - e) * expected_nll + e * uniform).epsilon(1e-6).scale(10));
        CHECK(distance(row, [&](Index i) {
                const double onehot = i == target ? 1 - e : 0;
                const double p = std::exp(x.at(i) - log_total);
                return 0.5 * (p - onehot - e / static_cast<double>(n));
              }) < 1e-6);
      }
    }
  });
}

TEST_CASE("divergence matches double arithmetic") {
  for_each_case([](const Kernels& k, Index n) {
    for (const float bound : {0.01F, 1.0F, 20.0F}) {
      Row x(n, "x", bound);
      Row y(n, "y", bound);
      Row dx = Row::poisoned(n);
      Row dy = Row::poisoned(n);
      const float found = k.divergence({x.data(), dx.data()}, {y.data(), dy.data()}, n, 0.5F);
      const auto log_total = [&](const Row& row) {
        const auto count = static_cast<double>(n);
        return std::log(count * mean(n, [&](Index i) { return std::exp(row.at(i)); }));
      };
      const double x_total = log_total(x);
      const double y_total = log_total(y);
      const auto p = [&](Index i) { return std::exp(x.at(i) - x_total); };
      const auto q = [&](Index i) { return std::exp(y.at(i) - y_total); };
      const auto d = [&](Index i) { return x.at(i) - x_total - (y.at(i) - y_total); };
      const double of_p = static_cast<double>(n) * mean(n, [&](Index i) { return p(i) * d(i); });
      const double of_q = -static_cast<double>(n) * mean(n, [&](Index i) { return q(i) * d(i); });
      CHECK(found == doctest::Approx(0.5 * (of_p + of_q)).epsilon(2e-6).scale(1));
      const double size = std::max(1.0, of_p + of_q);
      CHECK(distance(dx, [&](Index i) { return 0.25 * (p(i) * (d(i) - of_p) + p(i) - q(i)); }) <
            2e-6 * size);
      CHECK(distance(dy, [&](Index i) { return 0.25 * (q(i) - p(i) - q(i) * (d(i) + of_q)); }) <
            2e-6 * size);
    }
  });
}

TEST_CASE("adam says where a parameter is no longer finite") {
  for_each_case([](const Kernels& k, Index n) {
    for (const float epsilon : {1e-9F, 0.0F}) {
      const AdamStep s{0.9F, 0.98F, epsilon, 0.01F, 1.5F, 0.5F};
      Row p(n, "p");
      Row m = Row::zeros(n);
      Row v = Row::zeros(n);
      Row g = Row::zeros(n);
      // 0 / (0 + 0) is NaN.
      CHECK(k.adam(s, {p.data(), m.data(), v.data(), g.data(), n}) == (epsilon > 0));
    }
    const AdamStep s{0.9F, 0.98F, 1e-9F, 3e38F, 1.5F, 1.0F};
    Row p = Row::zeros(n);
    Row m = Row::zeros(n);
    Row v = Row::zeros(n);
    Row g = Row::zeros(n);
    v.data()[n - 1] = 1e-20F;
    m.data()[n - 1] = 1.0F;
    CHECK(!k.adam(s, {p.data(), m.data(), v.data(), g.data(), n}));
    CHECK(std::isinf(p[n - 1]));
  });
}

TEST_CASE("adam matches double arithmetic and clears the gradient") {
  for_each_case([](const Kernels& k, Index n) {
    const AdamStep s{0.9F, 0.98F, 1e-6F, 0.01F, 1.5F, 0.5F};
    Row p(n, "p");
    Row m(n, "m");
    Row v(n, "v");
    for (Index i = 0; i < n; ++i) v.data()[i] = i % 5 == 0 ? 0.0F : std::abs(v.data()[i]);
    Row g(n, "g");
    if (n > 6)
      g.data()[5] = m.data()[5] = 0.0F;  // together with v: this parameter never had a gradient
    const Row p0 = p;
    const Row m0 = m;
    const Row v0 = v;
    const Row g0 = g;
    CHECK(k.adam(s, {p.data(), m.data(), v.data(), g.data(), n}));
    const auto first = [&](Index i) { return 0.9 * m0.at(i) + 0.1 * 0.5 * g0.at(i); };
    const auto second = [&](Index i) {
      return 0.98 * v0.at(i) + 0.02 * std::pow(0.5 * g0.at(i), 2);
    };
    CHECK(distance(m, first) < 2e-7);
    CHECK(distance(v, second) < 2e-7);
    CHECK(distance(p, [&](Index i) {
            return p0.at(i) - 0.01 * first(i) / (std::sqrt(second(i)) * 1.5 + 1e-6);
          }) < 2e-6);
    CHECK(g == Row::zeros(n));
    if (n > 6) CHECK(p[5] == p0[5]);
  });
}

TEST_CASE("blend and sum_of_squares match double arithmetic") {
  for_each_case([](const Kernels& k, Index n) {
    Row x(n, "x");
    Row y(n, "y");
    const Row y0 = y;
    k.blend(x.data(), 0.25F, y.data(), n);
    CHECK(distance(y, [&](Index i) { return y0.at(i) + 0.25 * (x.at(i) - y0.at(i)); }) < 2e-7);
    k.blend(x.data(), 1.0F, y.data(), n);
    CHECK(distance(y, [&](Index i) { return x.at(i); }) < 2e-7);
    const double sum = static_cast<double>(n) * mean(n, [&](Index i) { return x.at(i) * x.at(i); });
    CHECK(k.sum_of_squares(x.data(), n) == doctest::Approx(sum).epsilon(1e-6));
  });
}

TEST_CASE("pack_strips transposes into strips, the last one filled up with zeros") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index rows : {1, 2, 7, 128}) {
      for (const Index columns : {1, 2, 3, 5, 6, 13, 96, 97, 200, 257}) {
        CAPTURE(rows);
        CAPTURE(columns);
        const Matrix x = random_matrix(rows, columns + 3, "x");
        const Index strips = (columns + k->row_block - 1) / k->row_block;
        Row packed = Row::poisoned(strips * rows * k->row_block);
        k->pack_strips(x.data(), x.outerStride(), rows, columns, packed.data());
        CHECK(distance(packed, [&](Index i) {
                const Index strip = i / (rows * k->row_block);
                const Index row = i / k->row_block % rows;
                const Index column = strip * k->row_block + i % k->row_block;
                return column < columns ? static_cast<double>(x(row, column)) : 0.0;
              }) == 0);
      }
    }
  }
}
