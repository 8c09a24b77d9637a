// Tests multiplication with weights against double arithmetic.
#include "compute/matmul.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/at.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::poisoned;
using attn::test::random_matrix;

namespace {

Parameter view(Matrix& m) {
  return row_major(m.data(), m.rows(), m.cols());
}

}  // namespace

TEST_CASE("products of shapes that are no multiple of any block") {
  for (const Index rows : {1, 2, 3, 4, 5, 7, 13, 37, 49, 101}) {
    for (const auto& shape :
         {std::pair<Index, Index>{1, 1}, {12, 36}, {15, 15}, {67, 130}, {256, 65}, {300, 257}}) {
      const Index in = shape.first, out = shape.second;
      CAPTURE(rows);
      CAPTURE(in);
      CAPTURE(out);
      Matrix w = random_matrix(in, out, "w");
      Matrix b = random_matrix(1, out, "b");
      const Matrix x = random_matrix(rows, in, "x");
      const PackedLinear product({view(w)}, {view(b)}, Backend::panels);
      Matrix y = poisoned(rows, out);
      product(x, y);
      const Eigen::MatrixXd expected =
          (x.cast<double>() * w.cast<double>()).rowwise() + b.row(0).cast<double>();
      CHECK((y.cast<double>() - expected).cwiseAbs().maxCoeff() < 2e-5);
    }
  }
}

TEST_CASE("weights side by side are one product, whichever way they lie in memory") {
  Matrix w1 = random_matrix(20, 7, "w1");
  Matrix w2 = random_matrix(33, 20, "w2");  // stored transposed, as [out, in]
  Matrix b1 = random_matrix(1, 7, "b1");
  Matrix b2 = random_matrix(1, 33, "b2");
  const Matrix x = random_matrix(6, 20, "x");
  const PackedLinear product({view(w1), view(w2).transposed()}, {view(b1), view(b2)},
                             Backend::panels);
  CHECK(product.in() == 20);
  CHECK(product.out() == 40);
  Matrix y = poisoned(6, 40);
  product(x, y);
  const Matrix first = (x * w1).rowwise() + b1.row(0);
  const Matrix second = (x * w2.transpose()).rowwise() + b2.row(0);
  CHECK((y.leftCols(7) - first).cwiseAbs().maxCoeff() < 1e-5F);
  CHECK((y.rightCols(33) - second).cwiseAbs().maxCoeff() < 1e-5F);
}

namespace {

/// A 16-bit weight at an odd address, and the same numbers in 32 bits.
struct Narrow {
  Narrow(Index rows, Index columns, half::Format format, const char* seed)
      : wide(random_matrix(rows, columns, seed)), bytes(to_size(2 * wide.size()) + 1) {
    for (Index i = 0; i < wide.size(); ++i) {
      const bool f16 = format == half::Format::f16;
      const std::uint16_t bits =
          f16 ? half::narrow_f16(wide.data()[i]) : half::narrow_bf16(wide.data()[i]);
      std::memcpy(&bytes[to_size(2 * i) + 1], &bits, sizeof bits);
      wide.data()[i] = f16 ? half::widen_f16(bits) : half::widen_bf16(bits);
    }
    parameter = row_major(nullptr, rows, columns);
    parameter.narrow = bytes.data() + 1;
    parameter.format = format;
  }

  Matrix wide;
  std::vector<std::byte> bytes;
  Parameter parameter;
};

Matrix product_of(const std::vector<Parameter>& weights, const Matrix& x, bool add = false) {
  const PackedLinear product(weights, {}, Backend::panels);
  Matrix y = random_matrix(x.rows(), product.out(), "y");
  add ? product.add(x, y) : product(x, y);
  return y;
}

}  // namespace

TEST_CASE("weights of 16 bits give the bits of the same numbers in 32") {
  for (const half::Format format : {half::Format::f16, half::Format::bf16}) {
    for (const auto& shape : {std::pair<Index, Index>{1, 1}, {15, 17}, {67, 130}, {2100, 33}}) {
      const Index in = shape.first, out = shape.second;
      CAPTURE(in);
      Narrow w(in, out, format, "w"), other(in, 5, format, "other");
      Narrow transposed(out, in, format, "t");  // the layout of PyTorch's linear layers
      for (const Index rows : {1, 2, 3, 4, 7, 13, 40, 101}) {
        CAPTURE(rows);
        const Matrix x = random_matrix(rows, in, "x");
        CHECK((product_of({w.parameter}, x) == product_of({view(w.wide)}, x)));
        CHECK((product_of({w.parameter}, x, true) == product_of({view(w.wide)}, x, true)));
        CHECK((product_of({transposed.parameter.transposed()}, x) ==
               product_of({view(transposed.wide).transposed()}, x)));
        const Matrix together = product_of({view(w.wide), view(other.wide)}, x);
        CHECK((product_of({w.parameter, other.parameter}, x) == together));
        CHECK((product_of({w.parameter, view(other.wide)}, x) == together));
      }
    }
  }
}

TEST_CASE("a row's bits depend neither on its neighbours nor on the threads") {
  Matrix w = random_matrix(256, 300, "w");
  const Matrix x = random_matrix(230, 256, "x");
  for (const Backend backend : {Backend::panels, Backend::int8}) {
    const PackedLinear product({view(w)}, {}, backend);
    Matrix together = poisoned(230, 300);
    set_threads(2);
    product(x, together);
    set_threads(1);
    for (Index r = 0; r < 230; ++r) {
      Matrix alone = poisoned(1, 300);
      product(x.row(r), alone);
      CHECK(std::memcmp(alone.data(), together.row(r).data(), 300 * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("what a product fetches for the one after it changes no bit of it") {
  const Matrix later = random_matrix(300, 256, "later");
  for (const Backend backend : {Backend::panels, Backend::int8}) {
    for (const auto& shape : {std::pair<Index, Index>{1, 1}, {67, 130}, {256, 300}}) {
      Matrix w = random_matrix(shape.first, shape.second, "w");
      const PackedLinear product({view(w)}, {}, backend);
      for (const Index rows : {1, 7, 33, 130}) {
        const Matrix x = random_matrix(rows, shape.first, "x");
        Matrix plain = poisoned(rows, shape.second);
        product(x, plain);
        for (const Index floats : {Index{1}, Index{1000}, later.size()}) {
          for (const int count : {1, 2}) {
            set_threads(count);
            Matrix y = poisoned(rows, shape.second);
            product(x, y, {later.data(), floats});
            set_threads(1);
            CHECK(y == plain);
          }
        }
      }
    }
  }
}

TEST_CASE("several tasks share out what they fetch, and a chain's lines suffice for all of it") {
  const Matrix later = random_matrix(1, 1001, "later");
  const Prefetch next{later.data(), later.size()};
  for (const Index tasks : {1, 2, 3, 8, 1000, 2000}) {
    const float* end = next.first;
    for (Index task = 0; task < tasks; ++task) {
      const Prefetch part = next.part(task, tasks);
      CHECK(part.first == end);
      end = part.first + part.floats;
    }
    CHECK(end == next.first + next.floats);
  }
  const Index lines = (1001 * 4 + kCacheLine - 1) / kCacheLine;
  for (const Index chains : {1, 2, 5, 63, 200}) {
    CHECK(next.lines_per_chain(chains, lines) * chains >= lines);
    CHECK(next.lines_per_chain(chains, 3) <= 3);
  }
  CHECK(next.lines_per_chain(0, 64) == 0);
  CHECK(Prefetch{}.lines_per_chain(5, 64) == 0);
}

TEST_CASE("a wide weight whose columns lie one after another is packed and let go in parts") {
  const auto packed = [](const Parameter& weight, Index& parts) {
    const std::byte* end = weight.bytes().data();
    const PackedCallback told = [&](const Parameter& part) {
      CHECK(part.rows == weight.rows);
      CHECK(part.bytes().data() == end);
      end += part.bytes().size();
      ++parts;
    };
    PackedLinear product({weight}, {}, PreparationOptions(Backend::panels, nullptr, &told));
    CHECK(end == weight.bytes().data() + weight.bytes().size());
    return product;
  };
  for (const half::Format format : {half::Format::f16, half::Format::bf16}) {
    Narrow w(2100, 21, format, "w");
    Matrix lying = w.wide.transpose();
    const Matrix x = random_matrix(7, 21, "x");
    Matrix whole = poisoned(7, 2100);
    Index parts = 0;
    packed(view(lying), parts)(x, whole);
    CHECK(parts == 1);
    for (const Parameter& weight : {w.parameter.transposed(), view(w.wide).transposed()}) {
      parts = 0;
      Matrix y = poisoned(7, 2100);
      packed(weight, parts)(x, y);
      CHECK(parts > 1);
      CHECK(y == whole);
    }
  }
}

TEST_CASE("mismatched shapes are refused") {
  Matrix a = random_matrix(4, 5, "a");
  Matrix b = random_matrix(6, 5, "b");
  CHECK_THROWS_AS(PackedLinear({view(a), view(b)}, {}, Backend::panels), std::logic_error);
  CHECK_THROWS_AS(PackedLinear({view(a)}, {view(b)}, Backend::panels), std::logic_error);
  const PackedLinear product({view(a)}, {}, Backend::panels);
  Matrix y(2, 5);
  CHECK_THROWS_AS(product(Matrix::Zero(2, 3), y), std::logic_error);
}

TEST_CASE("weights in 16 bits are packed as their widened copies are, at any address and width") {
  for (const half::Format format : {half::Format::f16, half::Format::bf16}) {
    for (const auto& shape :
         {std::pair<Index, Index>{1, 1}, {12, 36}, {15, 15}, {67, 130}, {32, 6}}) {
      const Index in = shape.first, out = shape.second;
      CAPTURE(in);
      CAPTURE(out);
      const Matrix drawn = random_matrix(out, in, "w");  // stored transposed, as [out, in]
      std::vector<std::byte> bytes(to_size(2 * in * out) + 1);
      Matrix wide(out, in);
      for (Index i = 0; i < drawn.size(); ++i) {
        const float value = drawn.data()[i];
        const std::uint16_t bits =
            format == half::Format::f16 ? half::narrow_f16(value) : half::narrow_bf16(value);
        std::memcpy(bytes.data() + 1 + 2 * i, &bits, sizeof bits);
        wide.data()[i] = half::widen(format, bytes.data() + 1 + 2 * i);
      }
      Parameter narrow = row_major(nullptr, out, in);
      narrow.narrow = bytes.data() + 1;
      narrow.format = format;
      const Matrix x = random_matrix(5, in, "x");
      Matrix expected = poisoned(5, out), y = poisoned(5, out);
      PackedLinear({view(wide).transposed()}, {}, Backend::panels)(x, expected);
      FloatArena arena(to_size(in * out) / 2);  // too small for some of them
      PackedLinear({narrow.transposed()}, {}, {Backend::panels, &arena})(x, y);
      CHECK(y == expected);
      Matrix across = random_matrix(4, out, "x");
      Matrix back = poisoned(4, in), expected_back = poisoned(4, in);
      PackedLinear({view(wide)}, {}, Backend::panels)(across, expected_back);
      PackedLinear({narrow}, {}, Backend::panels)(across, back);
      CHECK(back == expected_back);
    }
  }
}

TEST_CASE("an arena's matrices begin on cache lines, lie apart and outlive it") {
  AlignedFloats first, second, third;
  {
    FloatArena arena(64);
    first = arena.take(5);
    second = arena.take(48);
    third = arena.take(1);  // no room left
  }
  CHECK(second.data() - first.data() == 16);
  for (AlignedFloats* memory : {&first, &second, &third}) {
    CHECK(reinterpret_cast<std::uintptr_t>(memory->data()) % 64 == 0);
    std::fill_n(memory->data(), memory->size(), 1.0F);
  }
  CHECK(first.size() == 5);
  CHECK((third.data() < first.data() || third.data() >= first.data() + 64));
}
