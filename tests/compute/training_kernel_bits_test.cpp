// The kernels of training in AVX2 and in AVX-512: the same bits.
#include <doctest/doctest.h>

#include "kernel_tables.h"

using namespace attn;
using namespace attn::test;

namespace {

/// Whether both tables leave the same bits in every row that `work` hands back.
template <typename Work>
bool same_bits(const Work& work) {
  return work(*avx2_kernels()) == work(*avx512_kernels());
}

bool has_both() {
  if (avx2_kernels() != nullptr && avx512_kernels() != nullptr) return true;
  MESSAGE("this CPU has no AVX-512: compared nothing");
  return false;
}

using Rows = std::vector<Row>;

}  // namespace

TEST_CASE("AVX2 and AVX-512 agree bit by bit in the kernels of training") {
  if (!has_both()) return;
  for (const Index n : kLengths) {
    for (const float bound : {1.0F, 20.0F}) {
      CAPTURE(n);
      CAPTURE(bound);
      CHECK(same_bits([&](const Kernels& k) {
        Row x(n, "x", bound);
        k.dropout({0xABCDEF0123456789U, 0x55555555U, 1.5F}, 0xFFFFFF00U, x.data(), n);
        return x;
      }));
      CHECK(same_bits([&](const Kernels& k) {
        Row w(n, "w", bound);
        Row dw(n, "dw", bound);
        k.softmax(w.data(), n);
        k.softmax_backward(w.data(), 0.4F, dw.data(), n);
        return dw;
      }));
      CHECK(same_bits([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row w(n, "w");
        Rows d{Row(n, "dy"), Row::poisoned(n), Row(n, "dw"), Row(n, "db")};
        k.layer_norm_backward(x.data(), w.data(), d[0].data(), 1e-5F, n, d[1].data(), d[2].data(),
                              d[3].data());
        return d;
      }));
      for (const auto f : {&Kernels::relu_backward, &Kernels::gelu_backward,
                           &Kernels::swish_backward, &Kernels::gelu_new_backward}) {
        CHECK(same_bits([&](const Kernels& k) {
          Row x(n, "x", bound);
          Row dy(n, "dy");
          (k.*f)(x.data(), dy.data(), n);
          return dy;
        }));
      }
      for (const float smoothing : {0.0F, 0.1F}) {
        CHECK(same_bits([&](const Kernels& k) {
          Row logits(n, "logits", bound);
          Row loss = Row::poisoned(2);
          loss.data()[0] =
              k.cross_entropy(logits.data(), n, n / 2, smoothing, 0.3F, &loss.data()[1]);
          return Rows{logits, loss};
        }));
      }
      CHECK(same_bits([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row y(n, "y", bound);
        Rows r{Row::poisoned(n), Row::poisoned(n), Row::poisoned(1)};
        r[2].data()[0] = k.divergence(x.data(), y.data(), n, 0.3F, r[0].data(), r[1].data());
        return r;
      }));
      CHECK(same_bits([&](const Kernels& k) {
        Rows r{Row(n, "p"), Row(n, "m"), Row(n, "v"), Row(n, "g", bound)};
        for (Index i = 0; i < n; ++i) r[2].data()[i] *= r[2].data()[i];
        const AdamStep step{0.9F, 0.98F, 1e-9F, 0.003F, 1.7F, 0.3F};
        k.adam(step, r[0].data(), r[1].data(), r[2].data(), r[3].data(), n);
        return r;
      }));
      CHECK(same_bits([&](const Kernels& k) {
        Row x(n, "x", bound);
        Row y(n, "y");
        k.blend(x.data(), 0.3F, y.data(), n);
        Row sum = Row::poisoned(1);
        sum.data()[0] = k.sum_of_squares(x.data(), n);
        return Rows{y, sum};
      }));
    }
  }
}

TEST_CASE("AVX2 and AVX-512 agree bit by bit in products of packed rows") {
  if (!has_both()) return;
  for (const Index tokens : {1, 100, 128}) {
    for (const Index rows : {1, 5, 13, 50}) {
      for (const Index columns : {1, 16, 37, 130}) {
        CAPTURE(tokens);
        CAPTURE(rows);
        CAPTURE(columns);
        const Matrix a = random_matrix(tokens, rows, "a");
        const Matrix b = random_matrix(tokens, columns, "b");
        CHECK(same_bits([&](const Kernels& k) {
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
          const PanelProduct p{.x = strips.data(),
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
          k.panel_product(p, 0, panels);
          return c;
        }));
      }
    }
  }
}
