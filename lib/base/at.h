// Signed counts meet the standard library's unsigned ones here, and nowhere else by a cast. Not for
// the kernel files, which must not instantiate code that others share.
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

/// The same number as another type of integer; the caller knows that it fits.
template <std::integral To, std::integral From>
constexpr To narrow_cast(From n) {
  assert(std::in_range<To>(n));
  return static_cast<To>(n);
}

/// A count or index that is never negative, as the standard library counts.
template <std::integral Integer>
constexpr std::size_t to_size(Integer n) {
  return narrow_cast<std::size_t>(n);
}

/// A count or index as tensors count. Of a container: std::ssize.
template <std::integral Integer>
constexpr Index to_index(Integer n) {
  return narrow_cast<Index>(n);
}

/// A small count or index, as records and options hold them.
template <std::integral Integer>
constexpr int to_int(Integer n) {
  return narrow_cast<int>(n);
}

/// The element at an index of any integer or enumeration type; the caller knows that it is inside.
template <class Elements, class Number>
requires std::integral<Number> || std::is_enum_v<Number>
constexpr decltype(auto) at(Elements&& elements, Number index) {
  const auto position = static_cast<std::size_t>(index);
  assert(position < std::size(elements));
  return std::forward<Elements>(elements)[position];
}

// Sizes are computed here before anything is allocated: 64 bits, and an overflow is never silent.

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
