#include "base/numbers/random_normal.h"

#include <cmath>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/numbers/exact_math.h"
#include "base/random.h"

namespace attn {
namespace {

/// Normal numbers one after another.
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

/// Row r of a block becomes orthogonal to those before it and of length 1. Twice is enough
/// (Kahan and Parlett).
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

}  // namespace attn
