// Shared by the tests of the kernels: lengths that are not multiples of any block size, and rows
// whose surroundings are checked.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/at.h"
#include "compute/kernels/kernels.h"
#include "random_matrix.h"

namespace attn::test {

inline const std::vector<Index> kLengths{1, 2, 7, 15, 16, 17, 31, 33, 64, 100, 257};

/// A row of n numbers that a kernel changes in place, with NaN on both sides.
class Row {
 public:
  Row(Index n, std::string_view name, float bound = 1.0F) : Row(random_matrix(1, n, name, bound)) {}
  explicit Row(const Matrix& values)
      : n_(values.size()),
        memory_(to_size(n_) + 2 * kAround, std::numeric_limits<float>::quiet_NaN()) {
    std::copy_n(values.data(), n_, data());
  }
  static Row zeros(Index n) { return Row(Matrix::Zero(1, n)); }
  static Row poisoned(Index n) { return Row(test::poisoned(1, n)); }

  float* data() { return memory_.data() + kAround; }
  const float* data() const { return memory_.data() + kAround; }
  Index size() const { return n_; }
  float operator[](Index i) const { return memory_[kAround + to_size(i)]; }
  double at(Index i) const { return static_cast<double>((*this)[i]); }

  /// True if the numbers before and after the row are still NaN.
  bool untouched_around() const {
    for (std::size_t i = 0; i < kAround; ++i) {
      if (!std::isnan(memory_[i]) || !std::isnan(memory_[memory_.size() - 1 - i])) return false;
    }
    return true;
  }
  /// True if both have the same bits.
  bool operator==(const Row& other) const {
    return n_ == other.n_ &&
           std::memcmp(memory_.data(), other.memory_.data(), memory_.size() * sizeof(float)) == 0;
  }

 private:
  static constexpr std::size_t kAround = 33;
  Index n_;
  std::vector<float> memory_;
};

}  // namespace attn::test
