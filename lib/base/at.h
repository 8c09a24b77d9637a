// Signed counts meet the standard library's unsigned ones here, and nowhere else by a cast. Not for
// the kernel files, which must not instantiate code that others share.
#pragma once

#include <cassert>
#include <concepts>
#include <cstddef>
#include <iterator>
#include <type_traits>
#include <utility>

namespace attn {

/// A count or index that is never negative, as the standard library counts.
template <std::integral Integer>
constexpr std::size_t to_size(Integer n) {
  assert(std::cmp_greater_equal(n, 0));
  return static_cast<std::size_t>(n);
}

/// The element at an index of any integer or enumeration type; the caller knows that it is inside.
template <class Elements, class Number>
requires std::integral<Number> || std::is_enum_v<Number>
constexpr decltype(auto) at(Elements&& elements, Number index) {
  const auto place = static_cast<std::size_t>(index);
  assert(place < std::size(elements));
  return std::forward<Elements>(elements)[place];
}

}  // namespace attn
