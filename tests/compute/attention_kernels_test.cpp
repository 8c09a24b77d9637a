// Tests the attention kernels over blocks of keys: every table against double arithmetic, and the
// same bits from all tables with fused multiply-adds.
#include <doctest/doctest.h>

#include <cmath>

#include "compute/kernel_bits.h"

using namespace attn;
using attn::test::Bits;
using attn::test::kLengths;
using attn::test::random_matrix;
using attn::test::Row;
using attn::test::Rows;

namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();
constexpr float kScale = 0.3F;
constexpr Index kRows = 4;
constexpr Index kWidth = 19;

/// Two blocks of n keys each. Row 0 sees all keys, row 1 none of the first block, row 2 some of
/// both, row 3 none at all.
struct Blocks {
  explicit Blocks(Index n) {
    for (const int block : {0, 1}) {
      // The second block's scores are larger, so the results of the first one are scaled down.
      scores[block] =
          random_matrix(kRows, n, block == 0 ? "first" : "second", block == 0 ? 20.0F : 40.0F);
      values[block] = random_matrix(n, kWidth, block == 0 ? "v" : "w");
      for (Index j = 0; j < n; j += 3) scores[block](2, j) = kMinusInfinity;
      scores[block].row(3).setConstant(kMinusInfinity);
    }
    scores[0].row(1).setConstant(kMinusInfinity);
  }
  static float bias(int block) { return block == 0 ? 0.25F : -0.5F; }
  double score(int block, Index row, Index key) const {
    return static_cast<double>(scores[block](row, key)) * kScale + bias(block);
  }

  Matrix scores[2];
  Matrix values[2];
};

struct Softmax {
  std::vector<Row> scores;  ///< exponentials of the second block, one row per row of scores
  Row maximum{Matrix::Constant(1, kRows, kMinusInfinity)};
  Row sum = Row::zeros(kRows);
  Row output = Row::zeros(kRows * kWidth);
};

/// Calls the kernel like attend_tile(): after each block its values are summed.
Softmax softmax_of(const Kernels& k, const Blocks& blocks, Index n) {
  Softmax done;
  for (const int block : {0, 1}) {
    Row scores(Eigen::Map<const Matrix>(blocks.scores[block].data(), 1, kRows * n));
    k.softmax_block({.scores = scores.data(),
                     .stride = n,
                     .rows = kRows,
                     .n = n,
                     .scale = kScale,
                     .bias = Blocks::bias(block),
                     .maximum = done.maximum.data(),
                     .sum = done.sum.data(),
                     .output = done.output.data(),
                     .output_stride = kWidth,
                     .width = kWidth});
    for (Index r = 0; r < kRows; ++r) {
      for (Index j = 0; j < n; ++j) {
        for (Index c = 0; c < kWidth; ++c) {
          done.output.data()[r * kWidth + c] += scores[r * n + j] * blocks.values[block](j, c);
        }
      }
    }
    done.scores = {scores};
  }
  return done;
}

}  // namespace

TEST_CASE("softmax by blocks matches double arithmetic") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      CAPTURE(n);
      const Blocks blocks(n);
      const Softmax found = softmax_of(*k, blocks, n);
      for (Index r = 0; r < kRows; ++r) {
        CAPTURE(r);
        double maximum = kMinusInfinity, sum = 0;
        std::vector<double> output(to_size(kWidth));
        for (const int block : {0, 1}) {
          for (Index j = 0; j < n; ++j) maximum = std::max(maximum, blocks.score(block, r, j));
        }
        for (const int block : {0, 1}) {
          for (Index j = 0; j < n; ++j) {
            const double e =
                std::isinf(maximum) ? 0 : std::exp(blocks.score(block, r, j) - maximum);
            sum += e;
            for (Index c = 0; c < kWidth; ++c)
              at(output, c) += e * static_cast<double>(blocks.values[block](j, c));
          }
        }
        const bool nothing = std::isinf(maximum);
        if (nothing) {
          CHECK(std::isinf(found.maximum[r]));
        } else {
          CHECK(found.maximum.at(r) == doctest::Approx(maximum).epsilon(1e-6));
        }
        CHECK(found.sum.at(r) == doctest::Approx(sum).epsilon(1e-5));
        for (Index c = 0; c < kWidth; ++c) {
          CHECK(std::abs(found.output.at(r * kWidth + c) - at(output, c)) < 1e-5 * (1 + sum));
        }
      }
      CHECK(found.output.untouched_around());
      CHECK(found.scores[0].untouched_around());
      CHECK(found.maximum.untouched_around());
    }
  }
}

TEST_CASE("the way back through a block matches double arithmetic") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    for (const Index n : kLengths) {
      for (const bool drops : {false, true}) {
        CAPTURE(n);
        CAPTURE(drops);
        const Blocks blocks(n);
        const DropoutKey key{0xABCDEF0123456789U, 0x55555555U, 1.5F};
        constexpr std::uint32_t kFirst = 0xFFFFFF00U, kStep = 1000;
        Row weights(Eigen::Map<const Matrix>(blocks.scores[0].data(), 1, kRows * n));
        Row dscores(kRows * n, "dweights");
        const Row dweights = dscores;
        const Matrix delta = random_matrix(1, kRows, "delta");
        Matrix log_sum = Matrix::Constant(1, kRows, 7.0F);
        log_sum(0, 3) = kMinusInfinity;
        k->backward_block({.scores = weights.data(),
                           .dweights = dscores.data(),
                           .stride = n,
                           .rows = kRows,
                           .n = n,
                           .scale = kScale,
                           .bias = Blocks::bias(0),
                           .log_sum = log_sum.data(),
                           .delta = delta.data(),
                           .dropout = drops ? &key : nullptr,
                           .first = kFirst,
                           .row_step = kStep});
        for (Index r = 0; r < kRows; ++r) {
          // Attention's dropout keeps the same weights as the dropout kernel.
          Row kept(Matrix::Ones(1, n));
          if (drops) {
            k->dropout(key, kFirst + static_cast<std::uint32_t>(r) * kStep, kept.data(), n);
          }
          for (Index j = 0; j < n; ++j) {
            const double p =
                r == 3 ? 0 : std::exp(blocks.score(0, r, j) - static_cast<double>(log_sum(0, r)));
            const double d = dweights.at(r * n + j) * kept.at(j) - static_cast<double>(delta(0, r));
            CHECK(weights.at(r * n + j) == doctest::Approx(p * kept.at(j)).epsilon(1e-5));
            CHECK(dscores.at(r * n + j) == doctest::Approx(p * d * kScale).epsilon(1e-5));
          }
        }
        CHECK(weights.untouched_around());
        CHECK(dscores.untouched_around());
      }
    }
  }
}

TEST_CASE("fused tables agree bit by bit in blocks of attention") {
  Bits bits;
  for (const Index n : kLengths) {
    CAPTURE(n);
    const Blocks blocks(n);
    CHECK(bits.same([&](const Kernels& k) {
      const Softmax done = softmax_of(k, blocks, n);
      return Rows{done.scores[0], done.maximum, done.sum, done.output};
    }));
    CHECK(bits.same([&](const Kernels& k) {
      const DropoutKey key{0xABCDEF0123456789U, 0x55555555U, 1.5F};
      Rows r{Row(Eigen::Map<const Matrix>(blocks.scores[0].data(), 1, kRows * n)),
             Row(kRows * n, "dweights"), Row(Matrix::Constant(1, kRows, 7.0F)),
             Row(kRows, "delta")};
      k.backward_block({.scores = r[0].data(),
                        .dweights = r[1].data(),
                        .stride = n,
                        .rows = kRows,
                        .n = n,
                        .scale = kScale,
                        .bias = Blocks::bias(0),
                        .log_sum = r[2].data(),
                        .delta = r[3].data(),
                        .dropout = &key,
                        .first = 0xFFFFFF00U,
                        .row_step = 1000});
      return r;
    }));
  }
  const std::string everywhere = "7442f3e2a451c3910b4f327abe35341f5061b4335b314ddb220d2c034eded863";
  CHECK(bits.digest(everywhere) == everywhere);
}

TEST_CASE("packed rows and columns hold what was there, and zeros beyond") {
  for (const Kernels* k : all_kernels()) {
    CAPTURE(k->name);
    const Index width = k->panel_width;
    for (const Index n : {1, 3, 16, 37}) {
      for (const Index columns : {1, 16, 19, 64}) {
        CAPTURE(n);
        CAPTURE(columns);
        Matrix from = random_matrix(n + 2, columns + 5, "rows");
        std::vector<std::int32_t> order(to_size(n));
        for (Index j = 0; j < n; ++j) at(order, j) = to_int(n + 1 - j);
        const GatheredRows rows{from.data(), from.cols(), order.data()};
        const auto expected = [&](Index j, Index c) {
          return j < n && c < columns ? from(at(order, j), c) : 0.0F;
        };
        Row by_column = Row::poisoned(k->panels_of(n) * columns * width);
        k->pack_columns(rows, n, columns, by_column.data());
        for (Index j = 0; j < k->panels_of(n) * width; ++j) {
          for (Index c = 0; c < columns; ++c) {
            CHECK(by_column[(j / width * columns + c) * width + j % width] == expected(j, c));
          }
        }
        CHECK(by_column.untouched_around());
        Row by_row = Row::poisoned(k->panels_of(columns) * n * width);
        CHECK(k->pack_rows(rows, n, columns, by_row.data()));
        for (Index j = 0; j < n; ++j) {
          for (Index c = 0; c < k->panels_of(columns) * width; ++c) {
            CHECK(by_row[(c / width * n + j) * width + c % width] == expected(j, c));
          }
        }
        CHECK(by_row.untouched_around());
        for (const float not_finite : {kMinusInfinity, std::nanf("")}) {
          from(at(order, n - 1), columns - 1) = not_finite;
          CHECK_FALSE(k->pack_rows(rows, n, columns, by_row.data()));
        }
      }
    }
  }
}
