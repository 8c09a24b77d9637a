// Random weights with the same bits on every machine: only integer arithmetic and single rounded
// multiplications, no libm and no fused operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/at.h"

namespace attn {

/// Fills `out` with uniform numbers in [−bound, bound). Number i depends only on the seed, the
/// stream's name and i, so parameters can be made in any order.
/// The generator is SplitMix64 (Steele, Lea and Flood 2014) in counter mode. The upper 24 bits of
/// each output become an exact multiple of 2⁻²³ in [−1, 1), which is scaled by one multiplication.
void fill_uniform(std::uint64_t seed, std::string_view stream, float bound, float* out,
                  std::size_t count);

/// A sequence of random numbers that is the same on every machine; the standard library's
/// distributions and its shuffle may differ.
class RandomGenerator {
 public:
  RandomGenerator(std::uint64_t seed, std::string_view stream, std::uint64_t number);
  std::uint64_t next();
  /// Returns a uniform number in [0, n), n > 0.
  std::uint64_t below(std::uint64_t n);
  /// Returns a multiple of 2⁻⁵³, uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Shuffles the items; every order is equally likely (Fisher and Yates).
template <typename T>
void shuffle(std::vector<T>& items, RandomGenerator& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], at(items, random.below(i)));
  }
}

/// Returns √x rounded to float (IEEE square root, so the bits are the same everywhere).
float exact_sqrt(double x);

/// Returns the 64-bit FNV-1a hash of the bytes, the checksum that reproducibility tests compare.
std::uint64_t fnv1a(const void* data, std::size_t bytes);

// Normally distributed random numbers with the same bits on every machine, and random directions
// made of them. They use only sums, products, divisions and square roots of doubles, no libm.

/// Fills `out` with numbers of mean 0 and variance 1 by Marsaglia's polar method (1962). They
/// depend only on the seed and the stream's name.
void fill_normal(std::uint64_t seed, std::string_view stream, float* out, std::size_t count);

/// Fills out [rows, columns]: each row is distributed like one of fill_normal(), and the rows of
/// each block of `columns` rows are orthogonal (Choromanski et al. 2021, section 2.4).
void fill_orthogonal(std::uint64_t seed, std::string_view stream, float* out, std::size_t rows,
                     std::size_t columns);

// Logarithm and exponential with the same bits on every machine: only sums, products and divisions
// of doubles, no libm.

/// Returns ln x for x in (0, 1], accurate to a few units in the last place.
double exact_log(double x);

/// Returns e^x for x ≤ 0, accurate to a few units in the last place; 0 below −700.
double exact_exp(double x);

}  // namespace attn
