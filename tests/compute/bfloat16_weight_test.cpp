// Tests multiplication with factors rounded to bfloat16, by the CPU's tiles if it has them,
// otherwise by the float32 kernels. The expected numbers are sums in double of the products of
// rounded factors.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/at.h"
#include "compute/bfloat16_weight.h"
#include "compute/kernels/tile_kernels.h"
#include "compute/matmul.h"
#include "compute/threads.h"
#include "product_bounds.h"
#include "random_matrix.h"

namespace attn::test {
namespace {

Eigen::MatrixXd rounded(const Matrix& x) {
  return x.unaryExpr(&round_to_bfloat16).cast<double>();
}

Parameter stored(Matrix& m) {
  return row_major(m.data(), m.rows(), m.cols());
}

}  // namespace

TEST_CASE("rounding to bfloat16: to nearest, ties to even, too small is zero") {
  CHECK(round_to_bfloat16(1.0F) == 1.0F);
  CHECK(round_to_bfloat16(1.00390625F) == 1.0F);        // halfway to the next number; 1 is even
  CHECK(round_to_bfloat16(1.01171875F) == 1.015625F);   // halfway; the upper number is even
  CHECK(round_to_bfloat16(1.00390637F) == 1.0078125F);  // just above halfway
  CHECK(round_to_bfloat16(-1.00390637F) == -1.0078125F);
  CHECK(round_to_bfloat16(3.4e38F) == std::numeric_limits<float>::infinity());
  CHECK(round_to_bfloat16(1e-40F) == 0.0F);
  CHECK(std::signbit(round_to_bfloat16(-1e-40F)));
  CHECK(std::isnan(round_to_bfloat16(std::numeric_limits<float>::quiet_NaN())));
}

TEST_CASE("bfloat16 products are written and added, on odd shapes") {
  for (const Index in : {1, 31, 32, 33, 256, 1029, 2053}) {
    for (const Index out : {1, 15, 16, 17, 31, 33, 130, 300}) {
      Matrix weight = random_matrix(in, out, "w");
      Matrix transposed = weight.transpose();
      Matrix bias = random_matrix(1, out, "b");
      const PackedLinear as_stored({stored(weight)}, {stored(bias)}, Backend::bfloat16);
      const PackedLinear turned({stored(transposed).transposed()}, {stored(bias)},
                                Backend::bfloat16);
      const PackedLinear without_bias({stored(weight)}, {}, Backend::bfloat16);
      for (const Index rows : {1, 2, 16, 17, 32, 47, 290}) {
        CAPTURE(in);
        CAPTURE(out);
        CAPTURE(rows);
        const Matrix x = random_matrix(rows, in, "x");
        const Matrix start = random_matrix(rows, out, "y");
        const Eigen::MatrixXd product = rounded(x) * rounded(weight);
        const Eigen::MatrixXd expected = product.rowwise() + bias.row(0).cast<double>();
        Matrix y = Matrix::Constant(rows, out, std::nanf(""));
        as_stored(x, y);
        CHECK(near(y, expected, in));
        Matrix same = y;
        turned(x, same);
        CHECK(same_bits(same, y));
        y = start;
        as_stored.add(x, y);
        CHECK(near(y, start.cast<double>() + expected, in));
        y = start;
        without_bias.add(x, y);
        CHECK(near(y, start.cast<double>() + product, in));
        without_bias(x, y);
        CHECK(near(y, product, in));
      }
    }
  }
}

TEST_CASE("every table of bfloat16 tiles that this CPU has multiplies alike") {
  for (const TileKernels* table : all_tile_kernels()) {
    for (const Index rows : {1, 8, 9, 40}) {
      for (const Index columns : {1, 16, 33, 64}) {
        CAPTURE(rows);
        CAPTURE(columns);
        constexpr Index kTerms = 70;
        constexpr Index kTiles = 3;
        const Matrix a = random_matrix(rows, kTerms, "a");
        const Matrix b = random_matrix(kTerms, columns, "b");
        AlignedFloats left(to_size(side_tiles(rows) * kTiles * kTileSize / 2));
        AlignedFloats right(to_size(side_tiles(columns) * kTiles * kTileSize / 2));
        auto* left_tiles = static_cast<std::uint16_t*>(static_cast<void*>(left.data()));
        auto* right_tiles = static_cast<std::uint16_t*>(static_cast<void*>(right.data()));
        for (Index i = 0; i < side_tiles(rows); ++i) {
          table->pack_left({a.data(), kTerms, rows, kTerms, true}, i * kTileSide,
                           left_tiles + i * kTiles * kTileSize);
        }
        for (Index i = 0; i < side_tiles(columns); ++i) {
          table->pack_right({b.data(), columns, columns, kTerms, false}, i * kTileSide,
                            right_tiles + i * kTiles * kTileSize);
        }
        Matrix y = Matrix::Constant(rows, columns, std::nanf(""));
        table->multiply({left_tiles, right_tiles, rows, columns, kTiles, kTiles, kTiles, nullptr,
                         y.data(), columns, false});
        CHECK(near(y, rounded(a) * rounded(b), kTerms));
      }
    }
  }
}

TEST_CASE("a row's bits in bfloat16 are the same alone and among others, wherever it stands") {
  for (const auto& shape : {std::pair<Index, Index>{65, 33}, {256, 130}, {1100, 64}}) {
    const Index in = shape.first, out = shape.second;
    CAPTURE(in);
    Matrix weight = random_matrix(in, out, "w");
    Matrix bias = random_matrix(1, out, "b");
    const PackedLinear product({stored(weight)}, {stored(bias)}, Backend::bfloat16);
    const Matrix x = random_matrix(41, in, "x");
    Matrix all = Matrix::Constant(41, out, std::nanf(""));
    product(x, all);
    for (const Index rows : {1, 2, 3, 4, 5, 7, 8, 9}) {
      for (Index first = 0; first + rows <= 41; first += rows) {
        Matrix some = Matrix::Constant(rows, out, std::nanf(""));
        product(x.middleRows(first, rows), some);
        CHECK(same_bits(some, all.middleRows(first, rows)));
      }
    }
    Matrix positive = Matrix::Constant(41, out, std::nanf(""));
    product(x, positive, kernels().relu);
    CHECK(same_bits(positive, all.cwiseMax(0.0F)));
  }
}

TEST_CASE("a file's 16 bits make the same bfloat16 product as the numbers they stand for") {
  const Matrix x = random_matrix(9, 40, "x");
  Matrix weight = random_matrix(40, 50, "w").unaryExpr(&round_to_bfloat16);
  std::vector<std::uint16_t> narrow;
  for (Index j = 0; j < 50; ++j) {
    for (Index i = 0; i < 40; ++i) {
      narrow.push_back(
          static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(weight(i, j)) >> 16));
    }
  }
  Parameter file;
  file.rows = 40, file.columns = 50, file.row_stride = 1, file.column_stride = 40;
  file.narrow = reinterpret_cast<const std::byte*>(narrow.data());
  file.format = half::Format::bf16;
  Matrix y = Matrix::Constant(9, 50, std::nanf("")), z = y;
  PackedLinear({stored(weight)}, {}, Backend::bfloat16)(x, y);
  PackedLinear({file}, {}, Backend::bfloat16)(x, z);
  CHECK(same_bits(y, z));
}

TEST_CASE("weights side by side are one bfloat16 product, wherever one ends") {
  const Matrix x = random_matrix(37, 65, "x");
  Matrix a = random_matrix(65, 19, "a");
  Matrix b = random_matrix(65, 64, "b");
  Matrix c = random_matrix(5, 65, "c");
  const PackedLinear product({stored(a), stored(b), stored(c).transposed()}, {}, Backend::bfloat16);
  Matrix y(37, 88);
  product(x, y);
  Matrix all(65, 88);
  all << a, b, c.transpose();
  CHECK(near(y, rounded(x) * rounded(all), 65));
}

TEST_CASE("transposed bfloat16 products are added, on odd shapes") {
  for (const Index tokens : {1, 31, 33, 511, 513, 1100}) {
    for (const Index rows : {1, 16, 33, 270}) {
      for (const Index columns : {1, 17, 130}) {
        CAPTURE(tokens);
        CAPTURE(rows);
        CAPTURE(columns);
        const Matrix a = random_matrix(tokens, rows, "a");
        const Matrix b = random_matrix(tokens, columns, "b");
        const Matrix start = random_matrix(rows, columns, "c");
        Matrix c = start;
        add_transposed_matmul(a, b, c, Backend::bfloat16);
        CHECK(near(c, start.cast<double>() + rounded(a).transpose() * rounded(b), tokens));
      }
    }
  }
}

TEST_CASE("bfloat16 products read and write nothing beside their matrices") {
  Matrix wide = Matrix::Constant(20, 50, std::nanf(""));
  wide.leftCols(40) = random_matrix(20, 40, "x");
  Matrix weight = random_matrix(40, 21, "w");
  Matrix y = Matrix::Constant(21, 30, 7.0F);
  const PackedLinear product({stored(weight)}, {}, Backend::bfloat16);
  product(wide.leftCols(40), y.topLeftCorner(20, 21));
  CHECK(near(y.topLeftCorner(20, 21), rounded(wide.leftCols(40)) * rounded(weight), 40));
  CHECK((y.rightCols(9).array() == 7.0F).all());
  CHECK((y.row(20).array() == 7.0F).all());
}

TEST_CASE("threads change no bit of a bfloat16 product") {
  const Matrix x = random_matrix(700, 300, "x");
  const Matrix d = random_matrix(700, 530, "d");
  Matrix weight = random_matrix(300, 530, "w");
  const auto run = [&](int count) {
    set_threads(count);
    const PackedLinear product({stored(weight)}, {}, Backend::bfloat16);
    Matrix both(1000, 530);
    product(x, both.topRows(700));
    both.bottomRows(300) = random_matrix(300, 530, "g");
    add_transposed_matmul(x, d, both.bottomRows(300), Backend::bfloat16);
    set_threads(1);
    return both;
  };
  const Matrix one = run(1);
  CHECK(same_bits(one, run(2)));
  CHECK(same_bits(one, run(5)));
}

}  // namespace attn::test
