// Tests dropout: the same mask forward and backward, the right share of zeros, and independent
// masks.
#include "nn/dropout.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/at.h"
#include "compute/kernels/kernels.h"
#include "compute/matmul.h"
#include "random_matrix.h"

using namespace attn;
using attn::test::random_matrix;

namespace {

constexpr Index kNumbers = 1 << 18;

/// Returns 1 for every dropped element.
std::vector<std::uint8_t> dropped(const Dropout& dropout, Index n = kNumbers) {
  Matrix ones = Matrix::Ones(1, n);
  dropout.apply(ones);
  std::vector<std::uint8_t> mask(to_size(n));
  for (Index i = 0; i < n; ++i) at(mask, i) = ones(0, i) == 0.0F;
  return mask;
}

/// Returns how many standard deviations `count` of n is from its expectation n · p.
double deviations(double count, double n, double p) {
  return std::abs(count - n * p) / std::sqrt(n * p * (1 - p));
}

/// Returns the same for "both are dropped", of element i of one mask and element i + lag of
/// another.
double joint_deviations(const std::vector<std::uint8_t>& a, const std::vector<std::uint8_t>& b,
                        std::size_t lag, double p) {
  double both = 0;
  const std::size_t n = a.size() - lag;
  for (std::size_t i = 0; i < n; ++i) both += a[i] & b[i + lag];
  return deviations(both, static_cast<double>(n), p * p);
}

/// Random masks exceed this in a few hundred comparisons once in a million runs. The masks are the
/// same on every machine, so the tests cannot fail by chance.
constexpr double kMost = 5;

}  // namespace

TEST_CASE("dropout: off where the probability is 0") {
  for (const Dropout& off : {Dropout(), Dropout(0.0F, 99)}) {
    CHECK(!off.active());
    const Matrix x = random_matrix(7, 37, "x");
    Matrix y = x;
    off.apply(y);
    CHECK(y == x);
  }
  CHECK(Dropout(0.1F, 99).active());
}

TEST_CASE("dropout: every number is 0 or exactly 1/(1 − p) times itself, again by the same mask") {
  for (const float p : {0.1F, 0.5F, 0.9F}) {
    const Dropout dropout(p, 12345);
    const Matrix x = random_matrix(7, 37, "x");
    Matrix forward = x;
    dropout.apply(forward);
    Matrix backward = random_matrix(7, 37, "dy");
    const Matrix dy = backward;
    dropout.apply(backward);
    const auto scale = static_cast<float>(1.0 / (1.0 - static_cast<double>(p)));
    Index zeros = 0;
    for (Index i = 0; i < x.size(); ++i) {
      const bool zero = forward.data()[i] == 0.0F;
      zeros += zero;
      CHECK(forward.data()[i] == (zero ? 0.0F : x.data()[i] * scale));
      CHECK(backward.data()[i] == (zero ? 0.0F : dy.data()[i] * scale));
    }
    CHECK(zeros > 0);
    CHECK(zeros < x.size());
  }
}

TEST_CASE("dropout: element (t, j) has number t · n + j, however the rows lie and are shared out") {
  const Dropout dropout(0.3F, 7);
  Matrix wide = Matrix::Ones(1100, 41);
  dropout.apply(wide.leftCols(37));
  CHECK(wide.rightCols(4) == Matrix::Ones(1100, 4));
  Matrix rows = Matrix::Ones(1100, 37);
  for (Index t = 0; t < 1100; ++t) dropout.apply(rows.row(t).data(), 37, t * 37);
  CHECK(wide.leftCols(37) == rows);
  Matrix threaded = Matrix::Ones(1100, 37);
  set_threads(3);
  dropout.apply(threaded);
  set_threads(1);
  CHECK(threaded == rows);
}

TEST_CASE("dropout: the share of zeros is the probability, and the expectation stays") {
  for (const float p : {0.01F, 0.1F, 0.3F, 0.5F, 0.9F}) {
    for (std::uint64_t place = 0; place < 6; ++place) {
      CAPTURE(p);
      CAPTURE(place);
      const Dropout dropout = place < 3 ? Dropout(p, place) : DropoutKeys(place, 0).next(p);
      const std::vector<std::uint8_t> mask = dropped(dropout);
      double count = 0;
      for (const std::uint8_t zero : mask) count += zero;
      CHECK(deviations(count, kNumbers, static_cast<double>(p)) < kMost);
      Matrix ones = Matrix::Ones(1, kNumbers);
      dropout.apply(ones);
      const double rest = 1 - static_cast<double>(p);  // variance of an element: p / (1 − p)
      const double deviation = std::sqrt(static_cast<double>(p) / rest / kNumbers);
      CHECK(std::abs(ones.cast<double>().mean() - 1) < kMost * deviation);
    }
  }
}

TEST_CASE("dropout: neighbours in a mask know nothing of each other") {
  for (const float p : {0.1F, 0.5F}) {
    for (std::uint64_t pass = 0; pass < 3; ++pass) {
      const std::vector<std::uint8_t> mask = dropped(DropoutKeys(1, pass).next(p));
      for (const std::size_t lag :
           {1U, 2U, 3U, 4U, 7U, 8U, 16U, 64U, 256U, 512U, 1024U, 4096U, 65536U}) {
        CAPTURE(lag);
        CHECK(joint_deviations(mask, mask, lag, static_cast<double>(p)) < kMost);
      }
    }
  }
}

TEST_CASE("dropout: masks of other places, passes and seeds know nothing of each other") {
  for (const float p : {0.1F, 0.5F}) {
    std::vector<std::vector<std::uint8_t>> masks;
    const auto add = [&](DropoutKeys keys, int places) {
      for (int i = 0; i < places; ++i) masks.push_back(dropped(keys.next(p), kNumbers / 4));
    };
    add({1, 0}, 8);
    add({1, 1}, 3);
    add({1, 2}, 3);
    add({2, 0}, 3);
    add({3, 256}, 2);
    for (std::size_t a = 0; a < masks.size(); ++a) {
      for (std::size_t b = 0; b < masks.size(); ++b) {
        if (a == b) continue;
        CAPTURE(a);
        CAPTURE(b);
        for (const std::size_t lag : {0U, 1U, 16U, 512U}) {
          CHECK(joint_deviations(masks[a], masks[b], lag, static_cast<double>(p)) < kMost);
        }
      }
    }
  }
}

TEST_CASE("dropout: the same seed, pass and place give the same mask, another one another") {
  const auto third = [](std::uint64_t seed, std::uint64_t pass, float second = 0.5F) {
    DropoutKeys keys(seed, pass);
    keys.next(0.5F);
    keys.next(second);
    return dropped(keys.next(0.5F), 999);
  };
  CHECK(third(4, 9) == third(4, 9));
  CHECK(third(4, 9) == third(4, 9, 0.0F));  // a site without dropout counts, too
  CHECK(third(4, 9) != third(4, 10));
  CHECK(third(4, 9) != third(5, 9));
  DropoutKeys keys(4, 9);
  CHECK(dropped(keys.next(0.5F), 999) != dropped(keys.next(0.5F), 999));
}

TEST_CASE("dropout_hash: every bit is even, and half of them change with one bit of the input") {
  constexpr int kTries = 4096;
  constexpr double kBits = 32;
  double ones[32] = {};
  for (std::uint32_t i = 0; i < kTries; ++i) {
    const std::uint32_t h = dropout_hash(0x123456789ABCDEFU, i);
    for (std::uint32_t bit = 0; bit < 32; ++bit) ones[bit] += (h >> bit) & 1U;
  }
  for (const double count : ones) CHECK(deviations(count, kTries, 0.5) < kMost);
  for (std::uint32_t flipped = 0; flipped < 96;
       ++flipped) {  // 64 bits of the key and 32 of the index
    CAPTURE(flipped);
    double changed = 0;
    for (std::uint32_t i = 0; i < kTries; ++i) {
      const std::uint64_t key = i * 0x9E3779B97F4A7C15U;
      const std::uint64_t other = flipped < 64 ? key ^ (std::uint64_t{1} << flipped) : key;
      const std::uint32_t index = flipped < 64 ? i : i ^ (1U << (flipped - 64));
      changed += std::popcount(dropout_hash(key, i) ^ dropout_hash(other, index));
    }
    // The key's upper half is only used before the last multiplication. Keys are hashes themselves
    // (DropoutKeys), so two keys do not differ in only one bit.
    const bool late = flipped >= 32 && flipped < 64;
    CHECK(changed / kTries / kBits == doctest::Approx(0.5).epsilon(late ? 0.25 : 0.03));
  }
}
