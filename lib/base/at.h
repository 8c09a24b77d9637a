// Conversions between signed counts and the unsigned ones of the standard library; no other file
// casts between them. The kernel files must not include this, because they must not instantiate
// code that other files share.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/index.h"

namespace attn {

/// Converts a number to another integer type; the caller knows that it fits.
template <std::integral To, std::integral From>
constexpr To narrow_cast(From n) {
  assert(std::in_range<To>(n));
  return static_cast<To>(n);
}

/// Converts a count or index that is never negative to the standard library's size type.
template <std::integral Integer>
constexpr std::size_t to_size(Integer n) {
  return narrow_cast<std::size_t>(n);
}

/// Converts a count or index to the type that tensors use. For the size of a container use
/// std::ssize.
template <std::integral Integer>
constexpr Index to_index(Integer n) {
  return narrow_cast<Index>(n);
}

/// Converts a small count or index to int, the type in records and options.
template <std::integral Integer>
constexpr int to_int(Integer n) {
  return narrow_cast<int>(n);
}

/// Returns the element at an index of any integer or enumeration type; the caller knows that it is
/// in range.
template <class Elements, class Number>
requires std::integral<Number> || std::is_enum_v<Number>
constexpr decltype(auto) at(Elements&& elements, Number index) {
  const auto position = static_cast<std::size_t>(index);
  assert(position < std::size(elements));
  return std::forward<Elements>(elements)[position];
}

// Sizes are computed in 64 bits with overflow checks before anything is allocated.

/// Returns a · b, or nullopt if the product overflows 64 bits.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Returns a + b, or nullopt if the sum overflows 64 bits.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// Returns the product of all factors, or nullopt on overflow of 64 bits. A zero factor gives 0
/// only if no partial product before it overflowed; this is strict on purpose, for shapes read from
/// files.
inline std::optional<std::uint64_t> checked_product(std::initializer_list<std::uint64_t> factors) {
  std::optional<std::uint64_t> product = 1;
  for (const std::uint64_t factor : factors) {
    product = checked_multiply(*product, factor);
    if (!product) return std::nullopt;
  }
  return product;
}

}  // namespace attn
