// Sizes are computed here before anything is allocated: 64 bits, and an overflow is never silent.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace attn {

/// a · b, or nothing where the product leaves 64 bits.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// a + b, or nothing where the sum leaves 64 bits.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// The product of all factors, or nothing where it leaves 64 bits (a zero factor gives 0 only when
/// no partial product before it overflowed: strict on purpose, for shapes read from files).
inline std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors) {
  std::optional<std::uint64_t> product = 1;
  for (const std::uint64_t factor : factors) {
    product = checked_multiply(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

}  // namespace attn
