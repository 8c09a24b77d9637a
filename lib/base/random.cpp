#include "base/random.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/at.h"

namespace attn {
namespace {

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31);
}

}  // namespace

void fill_uniform(std::uint64_t seed, std::string_view stream, float bound, float* out,
                  std::size_t count) {
  const std::uint64_t start = mix(seed ^ fnv1a(stream.data(), stream.size()));
  const float step = bound * 0x1p-23F;  // exact unless bound is near the smallest float
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t bits = mix(start + (i + 1) * 0x9E3779B97F4A7C15U);
    const auto centred = static_cast<std::int32_t>(bits >> 40) - (1 << 23);
    out[i] = static_cast<float>(centred) * step;
  }
}

RandomGenerator::RandomGenerator(std::uint64_t seed, std::string_view stream, std::uint64_t number)
    : state_(mix(mix(seed ^ fnv1a(stream.data(), stream.size())) + number)) {}

std::uint64_t RandomGenerator::next() {
  state_ += 0x9E3779B97F4A7C15U;
  return mix(state_);
}

std::uint64_t RandomGenerator::below(std::uint64_t n) {
  // Without rejecting the first 2⁶⁴ mod n numbers, some results would be likelier than others.
  const std::uint64_t uneven = (0 - n) % n;
  for (;;) {
    const std::uint64_t x = next();
    if (x >= uneven) return x % n;
  }
}

float exact_sqrt(double x) {
  return static_cast<float>(std::sqrt(x));
}

std::uint64_t fnv1a(const void* data, std::size_t bytes) {
  const auto* p = static_cast<const unsigned char*>(data);
  std::uint64_t hash = 0xCBF29CE484222325U;
  for (std::size_t i = 0; i < bytes; ++i) hash = (hash ^ p[i]) * 0x100000001B3U;
  return hash;
}

namespace {

/// A stream of normally distributed numbers.
class NormalNumbers {
 public:
  NormalNumbers(std::uint64_t seed, std::string_view stream) : random_(seed, stream, 0) {}

  double next() {
    if (has_second_) {
      has_second_ = false;
      return second_;
    }
    double x = 0, y = 0, s = 0;
    do {
      x = 2 * random_.uniform() - 1;
      y = 2 * random_.uniform() - 1;
      s = x * x + y * y;
    } while (s >= 1 || s == 0);
    const double factor = std::sqrt(-2 * exact_log(s) / s);
    has_second_ = true;
    second_ = y * factor;
    return x * factor;
  }

 private:
  RandomGenerator random_;
  bool has_second_ = false;
  double second_ = 0;
};

double dot(const double* x, const double* y, std::size_t n) {
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

/// Makes row r of a block orthogonal to the rows before it and normalizes it to length 1. Two
/// passes are enough (Kahan and Parlett).
void make_orthogonal(double* block, std::size_t r, std::size_t columns) {
  double* row = block + r * columns;
  for (int turn = 0; turn < 2; ++turn) {
    for (std::size_t before = 0; before < r; ++before) {
      const double* other = block + before * columns;
      const double share = dot(row, other, columns);
      for (std::size_t c = 0; c < columns; ++c) row[c] -= share * other[c];
    }
    const double length = std::sqrt(dot(row, row, columns));
    for (std::size_t c = 0; c < columns; ++c) row[c] /= length;
  }
}

}  // namespace

void fill_normal(std::uint64_t seed, std::string_view stream, float* out, std::size_t count) {
  NormalNumbers numbers(seed, stream);
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<float>(numbers.next());
}

void fill_orthogonal(std::uint64_t seed, std::string_view stream, float* out, std::size_t rows,
                     std::size_t columns) {
  NormalNumbers directions(seed, stream);
  NormalNumbers lengths(seed, std::string(stream) + " lengths");
  std::vector<double> block(columns * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t r = row % columns;
    double square = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      block[r * columns + c] = directions.next();
      const double x = lengths.next();
      square += x * x;
    }
    make_orthogonal(block.data(), r, columns);
    const double length = std::sqrt(square);
    for (std::size_t c = 0; c < columns; ++c) {
      out[row * columns + c] = static_cast<float>(block[r * columns + c] * length);
    }
  }
}

double exact_log(double x) {
  constexpr double kLn2 = 0.693147180559945309417;
  double log = 0;
  while (x < 0.75) {
    x *= 2;
    log -= kLn2;
  }
  // ln x = 2 artanh((x − 1) / (x + 1)) for x near 1
  const double z = (x - 1) / (x + 1);
  double power = z, sum = 0;
  for (int n = 1; n < 30; n += 2, power *= z * z) sum += power / n;
  return log + 2 * sum;
}

double exact_exp(double x) {
  if (!(x >= -700)) return 0;
  // x = n ln 2 + r with |r| ≤ ln 2 / 2. ln 2 is split into two parts, so that n times the first one
  // is exact.
  constexpr double kLog2E = 1.44269504088896340736;
  constexpr double kLn2High = 0x1.62e42fee00000p-1, kLn2Low = 0x1.a39ef35793c76p-33;
  const auto n = static_cast<std::int64_t>(x * kLog2E - 0.5);
  const auto whole = static_cast<double>(n);
  const double r = (x - whole * kLn2High) - whole * kLn2Low;
  double term = 1, sum = 1;
  for (int k = 1; k < 18; ++k) {
    term *= r / k;
    sum += term;
  }
  return sum * std::bit_cast<double>(static_cast<std::uint64_t>(n + 1023) << 52);
}

}  // namespace attn
