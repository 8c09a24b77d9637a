// Random weights that have the same bits on every machine: integer arithmetic and single rounded
// multiplications only, no libm, no fused operations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/at.h"

namespace attn {

/// Fills `out` with numbers uniform in [−bound, bound). Number i depends on the seed, the stream's
/// name and i alone, so parameters can be made in any order.
/// The generator is SplitMix64 (Steele, Lea and Flood 2014) in counter mode; the upper 24 bits of
/// each output become a multiple of 2⁻²³ in [−1, 1), exactly, and are scaled by one multiplication.
void fill_uniform(std::uint64_t seed, std::string_view stream, float bound, float* out,
                  std::size_t count);

/// Random numbers one after another, the same on every machine (the standard library's
/// distributions and its shuffle may differ).
class RandomGenerator {
 public:
  RandomGenerator(std::uint64_t seed, std::string_view stream, std::uint64_t number);
  std::uint64_t next();
  /// Even in [0, n), n > 0.
  std::uint64_t below(std::uint64_t n);
  /// A multiple of 2⁻⁵³, uniform in [0, 1).
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::uint64_t state_;
};

/// Every order is as likely (Fisher and Yates).
template <typename T>
void shuffle(std::vector<T>& items, RandomGenerator& random) {
  for (std::size_t i = items.size(); i > 1; --i) {
    std::swap(items[i - 1], at(items, random.below(i)));
  }
}

/// √x rounded to float (IEEE square root: exact bits everywhere).
float exact_sqrt(double x);

/// 64-bit FNV-1a of bytes: the checksum that tests of reproducibility compare.
std::uint64_t fnv1a(const void* data, std::size_t bytes);

// Normally distributed random numbers with the same bits on every machine, and random directions
// made of them: sums, products, divisions and square roots of doubles only, no libm.

/// Fills `out` with numbers of mean 0 and variance 1, by Marsaglia's polar method (1962). They
/// depend on the seed and the stream's name.
void fill_normal(std::uint64_t seed, std::string_view stream, float* out, std::size_t count);

/// out [rows, columns]: each row normally distributed as fill_normal()'s would be; those of a block
/// of `columns` rows are orthogonal (Choromanski et al. 2021, section 2.4).
void fill_orthogonal(std::uint64_t seed, std::string_view stream, float* out, std::size_t rows,
                     std::size_t columns);

// Logarithm and exponential with the same bits on every machine: sums, products and divisions of
// doubles only, no libm.

/// ln x for x in (0, 1], within a few units of the last place.
double exact_log(double x);

/// e^x for x of 0 or less, within a few units of the last place; 0 below −700.
double exact_exp(double x);

}  // namespace attn
