// Tests int8 matrix multiplication against integer and double arithmetic, with every table of
// kernels that this CPU has.
#include "compute/int8/int8_kernels.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/at.h"
#include "base/error.h"
#include "compute/matmul.h"
#include "product_bounds.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::poisoned;
using attn::test::random_matrix;
using attn::test::same_bits;

namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

struct Rounded {
  std::vector<std::int8_t> numbers;
  float scale = 0;
};

Rounded quantized(const Int8Kernels& k, const std::vector<float>& x) {
  Rounded r{std::vector<std::int8_t>(x.size() + 1, 99), 0};
  r.scale = k.quantize(x.data(), std::ssize(x), r.numbers.data());
  CHECK(r.numbers.back() == 99);  // nothing is written beyond the row
  r.numbers.pop_back();
  return r;
}

std::vector<float> row_of(Index n, const char* name, float factor) {
  const Matrix m = random_matrix(1, n, name) * factor;
  return {m.data(), m.data() + n};
}

/// A matrix multiplication of one panel after another, packed by hand.
struct Problem {
  Index rows, in, out;
  std::vector<std::int8_t> x, w;  ///< [rows, in], [in, out]
};

Problem extreme(Index rows, Index in, Index out) {
  Problem p{rows, in, out, {}, {}};
  for (Index i = 0; i < rows * in; ++i) p.x.push_back(i % 3 == 0 ? -127 : 127);
  for (Index i = 0; i < in * out; ++i) p.w.push_back(i % 5 == 0 ? 127 : -127);
  return p;
}

Matrix computed(const Int8Kernels& k, const Problem& p) {
  const Index groups = (p.in + 3) / 4;
  const Index panels = (p.out + k.panel_width - 1) / k.panel_width;
  std::vector<std::int8_t> x(to_size(p.rows * groups * k.group_bytes) + 1, 99),
      w(to_size(panels * groups * 4 * k.panel_width));
  std::vector<std::int32_t> sums(to_size(panels * k.panel_width));
  for (Index j = 0; j < p.out; ++j) {
    for (Index i = 0; i < p.in; ++i) {
      const Index panel = j / k.panel_width * groups + i / 4;
      const std::int8_t value = p.w[to_size(i * p.out + j)];
      w[to_size((panel * k.panel_width + j % k.panel_width) * 4 + i % 4)] = value;
      sums[to_size(j)] += value;
    }
  }
  const std::vector<float> numbers(p.x.begin(), p.x.end());
  std::vector<float> row_scales(to_size(p.rows), kNaN);
  std::vector<std::int32_t> negatives(to_size(p.rows), -1);
  k.quantize_rows({numbers.data(), p.in, p.rows, p.in},
                  {x.data(), row_scales.data(), negatives.data()});
  CHECK(row_scales == std::vector<float>(to_size(p.rows), 1.0F));  // each row has a 127
  CHECK(x.back() == 99);                                           // nothing is written beyond them
  const std::vector<float> scales(sums.size(), 1.0F);
  Matrix y = poisoned(p.rows, p.out);
  k.product({x.data(), row_scales.data(), negatives.data(), p.rows, groups, w.data(), scales.data(),
             sums.data(), p.out, nullptr, y.data(), p.out, false},
            0, panels);
  return y;
}

Parameter as_weight(Matrix& m) {
  return row_major(m.data(), m.rows(), m.cols());
}

}  // namespace

TEST_CASE("rows become 8 bits with one scale, the same from every table") {
  for (const Index n : {1, 7, 8, 31, 32, 33, 100, 257}) {
    for (const float factor : {1e-30F, 0.01F, 1.0F, 3e20F}) {
      CAPTURE(n);
      CAPTURE(factor);
      const std::vector<float> x = row_of(n, "row", factor);
      const Rounded first = quantized(portable_int8_table, x);
      float largest = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        largest = std::max(largest, std::fabs(x[i]));
        CHECK(std::fabs(x[i] - first.scale * first.numbers[i]) <= 0.5001F * first.scale);
        CHECK(first.numbers[i] >= -127);
      }
      CHECK(first.scale >= largest / 127);
      CHECK(first.scale <= largest / 127 * (1 + 0x1p-15F));
      std::vector<float> again;
      for (const std::int8_t number : first.numbers) again.push_back(first.scale * number);
      for (const Int8Kernels* k : all_int8_kernels()) {
        CAPTURE(k->name);
        const Rounded found = quantized(*k, x);
        CHECK(found.scale == first.scale);
        CHECK(found.numbers == first.numbers);
        const Rounded twice = quantized(*k, again);  // rounding twice changes nothing
        CHECK(twice.scale == first.scale);
        CHECK(twice.numbers == first.numbers);
      }
    }
  }
}

TEST_CASE("ties are rounded to even, the largest number is 127") {
  for (const Int8Kernels* k : all_int8_kernels()) {
    CAPTURE(k->name);
    std::vector<float> x(40, 0.0F);
    x[0] = 127, x[1] = -127, x[2] = 0.5F, x[3] = 1.5F, x[4] = -2.5F, x[39] = 3.5F;
    const Rounded r = quantized(*k, x);
    CHECK(r.scale == 1.0F);
    CHECK(std::vector<int>(r.numbers.begin(), r.numbers.begin() + 5) ==
          std::vector<int>{127, -127, 0, 2, -2});
    CHECK(r.numbers[39] == 4);
  }
}

TEST_CASE("rows of zeros, tiny numbers, NaN and infinity") {
  for (const Int8Kernels* k : all_int8_kernels()) {
    CAPTURE(k->name);
    for (const std::size_t place : {0U, 7U, 33U}) {
      std::vector<float> x(34, 1.0F);
      for (const float bad : {kNaN, -kNaN, kInfinity, -kInfinity}) {
        x[place] = bad;
        const Rounded r = quantized(*k, x);
        CHECK(std::isnan(r.scale));
        CHECK(r.numbers == std::vector<std::int8_t>(34, 0));
      }
    }
    for (const float tiny : {0.0F, -0.0F, 1e-45F, 1e-37F}) {
      const Rounded r = quantized(*k, std::vector<float>(34, tiny));
      CHECK(r.scale == 0.0F);
      CHECK(r.numbers == std::vector<std::int8_t>(34, 0));
    }
    const Rounded r = quantized(*k, std::vector<float>(34, 3.4e38F));
    CHECK(r.numbers == std::vector<std::int8_t>(34, 127));
  }
}

TEST_CASE("sums of the largest products do not saturate, in any table") {
  for (const auto& [rows, in, out] :
       {std::array<Index, 3>{1, 1, 1}, {2, 4, 33}, {3, 5, 31}, {7, 67, 70}, {13, 1030, 129}}) {
    const Problem p = extreme(rows, in, out);
    Matrix expected(rows, out);
    for (Index r = 0; r < rows; ++r) {
      for (Index j = 0; j < out; ++j) {
        std::int32_t sum = 0;
        for (Index i = 0; i < in; ++i) sum += p.x[to_size(r * in + i)] * p.w[to_size(i * out + j)];
        expected(r, j) = static_cast<float>(sum);  // the scales are 1
      }
    }
    for (const Int8Kernels* k : all_int8_kernels()) {
      CAPTURE(k->name);
      CHECK(same_bits(computed(*k, p), expected));
    }
  }
}

TEST_CASE("8-bit products come near those of doubles, whichever way weights lie") {
  for (const Index rows : {1, 2, 3, 7, 97, 200}) {
    for (const auto& shape : {std::pair<Index, Index>{1, 1}, {15, 15}, {67, 130}, {300, 257}}) {
      const Index in = shape.first, out = shape.second;
      CAPTURE(rows);
      CAPTURE(in);
      Matrix w = random_matrix(in, out, "w");
      Matrix turned = w.transpose();
      Matrix b = random_matrix(1, out, "b");
      const Matrix x = random_matrix(rows, in, "x");
      const PackedLinear product({as_weight(w)}, {as_weight(b)}, Backend::int8);
      const PackedLinear same({as_weight(turned).transposed()}, {as_weight(b)}, Backend::int8);
      Matrix y = poisoned(rows, out), z = poisoned(rows, out);
      product(x, y);
      same(x, z);
      CHECK(same_bits(y, z));
      const Eigen::MatrixXd expected =
          (x.cast<double>() * w.cast<double>()).rowwise() + b.row(0).cast<double>();
      // Each factor is off by up to half a step of 1/127, and each product by two such errors.
      const double bound = (1.0 + 2.5 * std::sqrt(static_cast<double>(in))) / 127;
      CHECK((y.cast<double>() - expected).cwiseAbs().maxCoeff() < bound);
      Matrix added = Matrix::Ones(rows, out);
      product.add(x, added);
      CHECK(same_bits(added, (y.array() + 1.0F).matrix()));
      Matrix positive = poisoned(rows, out);
      product(x, positive, kernels().relu);
      CHECK(same_bits(positive, y.cwiseMax(0.0F)));
    }
  }
}

TEST_CASE("8 bits: weights side by side are one weight, and what fills up a row adds nothing") {
  Matrix joined = random_matrix(15, 170, "joined");
  joined = (joined.array() * 40).round().max(-127).min(127);
  joined.row(0).setConstant(127);  // the scales are 1, so the sums are exact
  Matrix left = joined.leftCols(100), right = joined.rightCols(70);
  Matrix x = (random_matrix(5, 15, "x").array() * 40).round().max(-127).min(127);
  x.col(3).setConstant(-127);
  const PackedLinear product({as_weight(left), as_weight(right)}, {}, Backend::int8);
  Matrix y = poisoned(5, 170);
  product(x, y);
  const Matrix expected = x * joined;
  CHECK(y == expected);
  set_threads(2);
  Matrix positive = poisoned(5, 170);
  product(x, positive, kernels().relu);
  set_threads(1);
  CHECK(positive == expected.cwiseMax(0.0F));
}

TEST_CASE("zero columns give the bias, rows with NaN give NaN, others stay") {
  Matrix w = random_matrix(20, 40, "w");
  w.col(3).setZero();
  Matrix b = random_matrix(1, 40, "b");
  Matrix x = random_matrix(3, 20, "x");
  const PackedLinear product({as_weight(w)}, {as_weight(b)}, Backend::int8);
  Matrix before = poisoned(3, 40), after = poisoned(3, 40);
  product(x, before);
  CHECK(before(0, 3) == b(0, 3));
  x(1, 19) = kInfinity;
  product(x, after);
  CHECK(same_bits(after.row(0), before.row(0)));
  CHECK(same_bits(after.row(2), before.row(2)));
  for (Index j = 0; j < 40; ++j) CHECK(std::isnan(after(1, j)));
}

TEST_CASE("what 8 bits cannot hold is refused") {
  Matrix w = random_matrix(20, 40, "w");
  for (const float bad : {kNaN, kInfinity}) {
    w(5, 33) = bad;
    CHECK_THROWS_WITH_AS(
        PackedLinear({as_weight(w)}, {}, Backend::int8),
        "column 33 of a weight of 20 x 40 holds NaN or infinity; 8-bit weights need finite numbers",
        InputError);
  }
  Matrix tall = Matrix::Zero((Index{1} << 17) + 1, 1);
  CHECK_THROWS_WITH_AS(PackedLinear({as_weight(tall)}, {}, Backend::int8),
                       "a sum of 131073 products of 8 bits may not fit into 32; expected at most "
                       "131072",
                       InputError);
}
