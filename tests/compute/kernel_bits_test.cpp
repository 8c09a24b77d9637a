// Tests the tables with fused multiply-adds (AVX2, AVX-512 and NEON): they give the same bits, on
// every machine.
#include <doctest/doctest.h>

#include <algorithm>

#include "compute/half.h"
#include "compute/kernel_bits.h"

using namespace attn;
using attn::test::Bits;
using attn::test::kLengths;
using attn::test::random_matrix;
using attn::test::Row;
using attn::test::Rows;

TEST_CASE("fused tables agree bit by bit") {
  Bits bits;
  for (const Index n : kLengths) {
    CAPTURE(n);
    for (const auto f :
         {&Kernels::softmax, &Kernels::relu, &Kernels::gelu, &Kernels::swish, &Kernels::gelu_new}) {
      CHECK(bits.same([&](const Kernels& k) {
        Row x(n, "bits", 5.0F);
        (k.*f)(x.data(), n);
        return x;
      }));
    }
    const Matrix x = random_matrix(1, n, "bits", 5.0F);
    const Matrix rows = random_matrix(9, n, "rows");
    CHECK(bits.same([&](const Kernels& k) {
      Rows r{Row::poisoned(n), Row::poisoned(9), Row::poisoned(n)};
      k.layer_norm({x.data(), x.data(), 1e-5F, n}, x.data(), r[0].data());
      k.dot_products(x.data(), {rows.data(), n, nullptr}, 9, n, {r[1].data()});
      k.weighted_sums(r[1].data(), {rows.data(), n, nullptr}, 9, n, {r[2].data()});
      return r;
    }));
    CHECK(bits.same_here([&](const Kernels& k) {
      Row r = Row::poisoned(2);
      k.log_sum_exp(x.data(), n, &r.data()[0], &r.data()[1]);
      return r;
    }));
  }
  const std::string everywhere = "7bb7c0579691849acfdabe1d3d35b6ce156655b85d1c619a7e97c0eca197354f";
  CHECK(bits.digest(everywhere) == everywhere);
}

TEST_CASE("fused tables agree bit by bit in the kernels of training") {
  Bits bits;
  for (const Index n : kLengths) {
    for (const float bound : {1.0F, 20.0F}) {
      CAPTURE(n);
      CAPTURE(bound);
      CHECK(bits.same([&](const Kernels& k) {
        Row x(n, "x", bound);
        k.dropout({0xABCDEF0123456789U, 0x55555555U, 1.5F}, 0xFFFFFF00U, x.data(), n);
        return x;
      }));
      CHECK(bits.same([&](const Kernels& k) {
        Row w(n, "w", bound);
        Row dw(n, "dw", bound);
        k.softmax(w.data(), n);
        k.softmax_backward(w.data(), 0.4F, dw.data(), n);
        return dw;
      }));
      CHECK(bits.same([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row w(n, "w");
        Rows d{Row(n, "dy"), Row::poisoned(n), Row(n, "dw"), Row(n, "db")};
        k.layer_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), d[0].data(), d[1].data(),
                              {d[2].data(), d[3].data()});
        return d;
      }));
      CHECK(bits.same([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row w(n, "w");
        Rows d{Row(n, "dy"), Row::poisoned(n), Row(n, "dw")};
        k.rms_norm_backward({w.data(), nullptr, 1e-5F, n}, x.data(), d[0].data(), d[1].data(),
                            d[2].data());
        return d;
      }));
      for (const auto f : {&Kernels::relu_backward, &Kernels::gelu_backward,
                           &Kernels::swish_backward, &Kernels::gelu_new_backward}) {
        CHECK(bits.same([&](const Kernels& k) {
          Row x(n, "x", bound);
          Row dy(n, "dy");
          (k.*f)(x.data(), dy.data(), n);
          return dy;
        }));
      }
      for (const float smoothing : {0.0F, 0.1F}) {
        float losses[2];
        const auto loss = [&](const Kernels& k) {
          Row logits(n, "logits", bound);
          const TokenLoss token = k.cross_entropy(logits.data(), n, n / 2, smoothing, 0.3F);
          losses[0] = token.loss;
          losses[1] = token.nll;
          return logits;
        };
        CHECK(bits.same(loss));
        CHECK(bits.same_here([&](const Kernels& k) {
          loss(k);
          return Row(Eigen::Map<Matrix>(losses, 1, 2));
        }));
      }
      CHECK(bits.same_here([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row y(n, "y", bound);
        Rows r{Row::poisoned(n), Row::poisoned(n), Row::poisoned(1)};
        r[2].data()[0] = k.divergence({x.data(), r[0].data()}, {y.data(), r[1].data()}, n, 0.3F);
        return r;
      }));
      CHECK(bits.same([&](const Kernels& k) {
        Rows r{Row(n, "p"), Row(n, "m"), Row(n, "v"), Row(n, "g", bound)};
        for (Index i = 0; i < n; ++i) r[2].data()[i] *= r[2].data()[i];
        const AdamStep step{0.9F, 0.98F, 1e-9F, 0.003F, 1.7F, 0.3F};
        k.adam(step, {r[0].data(), r[1].data(), r[2].data(), r[3].data(), n});
        return r;
      }));
      CHECK(bits.same([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row y(n, "y");
        k.blend(x.data(), 0.3F, y.data(), n);
        Row sum = Row::poisoned(1);
        sum.data()[0] = k.sum_of_squares(x.data(), n);
        return Rows{y, sum};
      }));
    }
  }
  const std::string everywhere = "8b1ca9f304e1817cb9e465205a016462c875e40039b2ef6e6ba1c48183cd93ba";
  CHECK(bits.digest(everywhere) == everywhere);
}

TEST_CASE("fused tables agree bit by bit in products of packed rows") {
  Bits bits;
  for (const Index tokens : {1, 100, 128}) {
    for (const Index rows : {1, 5, 13, 50}) {
      for (const Index columns : {1, 16, 37, 130}) {
        CAPTURE(tokens);
        CAPTURE(rows);
        CAPTURE(columns);
        const Matrix a = random_matrix(tokens, rows, "a");
        const Matrix b = random_matrix(tokens, columns, "b");
        CHECK(bits.same([&](const Kernels& k) {
          const Index block = k.row_block;
          Matrix strips((rows + block - 1) / block * block, tokens);
          k.pack_strips(a.data(), rows, tokens, rows, strips.data());
          const Index width = k.panel_width;
          const Index panels = (columns + width - 1) / width;
          Matrix panel = Matrix::Zero(panels * tokens, width);
          for (Index i = 0; i < tokens; ++i) {
            for (Index j = 0; j < columns; ++j) {
              panel(j / width * tokens + i, j % width) = b(i, j);
            }
          }
          Row c(rows * columns, "c");
          const PanelMatmul p{.x = strips.data(),
                              .x_stride = 0,
                              .rows = rows,
                              .in = tokens,
                              .panels = panel.data(),
                              .out = columns,
                              .bias = nullptr,
                              .y = c.data(),
                              .y_stride = columns,
                              .panel_rows = tokens,
                              .add = true,
                              .strips = true};
          k.panel_matmul(p, 0, panels);
          return c;
        }));
      }
    }
  }
  const std::string everywhere = "616258a5aaa379b4738a1f9275fed7e1a99c231c1cc441e21dd9b0c2f9fa0a6f";
  CHECK(bits.digest(everywhere) == everywhere);
}

TEST_CASE("panels in 16 bits give what they give in 32, widened as they are read or once") {
  for (const Kernels* k : all_kernels()) {
    if (!k->widens) continue;
    CAPTURE(k->name);
    const Index width = k->panel_width;
    const Index columns = width + 5;
    for (const Index in : {1, 63, 64, 65, 200}) {
      std::vector<std::uint16_t> narrow;
      Row wide(2 * in * width, "weights");
      for (Index i = 0; i < 2 * in * width; ++i) {
        narrow.push_back(half::narrow_f16(wide.data()[i]));
        wide.data()[i] = half::widen_f16(narrow.back());
      }
      for (const Index rows : {1, 2, 12, 13, 19, 60, 100}) {
        CAPTURE(in);
        CAPTURE(rows);
        const Matrix x = random_matrix(rows, in, "x");
        const auto multiply = [&](const std::uint16_t* panels, bool once) {
          Row y(rows * columns, "y");
          k->panel_matmul({.x = x.data(),
                           .x_stride = in,
                           .rows = rows,
                           .in = in,
                           .panels = wide.data(),
                           .out = columns,
                           .bias = nullptr,
                           .y = y.data(),
                           .y_stride = columns,
                           .panel_rows = in,
                           .narrow = panels,
                           .widens_once = once},
                          0, 2);
          return y;
        };
        const Row expected = multiply(nullptr, false);
        CHECK(multiply(narrow.data(), false) == expected);
        CHECK(multiply(narrow.data(), true) == expected);
      }
    }
  }
}
