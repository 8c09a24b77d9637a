// The parts of C++20 that the libraries use but libc++ 14, in Debian 12's emscripten, lacks. Every
// file of the module is compiled with this header included first. With a newer libc++ it is empty.
#pragma once

#include <version>

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

#include <algorithm>
#include <charconv>
#include <cstring>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>

namespace std {

template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From));
  return __builtin_bit_cast(To, from);
}

/// Writes the shortest decimal that reads back exactly, as the standard requires
/// (web/old_libcxx.cpp).
to_chars_result to_chars(char* first, char* last, float value);
/// Supports fixed notation only.
from_chars_result from_chars(const char* first, const char* last, double& value,
                             chars_format format);

namespace ranges {

/// Returns a comparison of the projections of two elements.
template <class Compare, class Project>
constexpr auto projected_compare(Compare& compare, Project& project) {
  return [&](const auto& a, const auto& b) -> bool {
    return std::invoke(compare, std::invoke(project, a), std::invoke(project, b));
  };
}

template <class Range, class Test, class Project>
constexpr auto find_where(Range&& range, Test& test, Project& project) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](auto&& x) -> bool { return std::invoke(test, std::invoke(project, x)); });
}

template <class Range, class Test, class Project = identity>
constexpr auto find_if(Range&& range, Test test, Project project = {}) {
  return find_where(range, test, project);
}
template <class Range, class Value, class Project = identity>
constexpr auto find(Range&& range, const Value& value, Project project = {}) {
  const auto equal = [&](const auto& x) { return x == value; };
  return find_where(range, equal, project);
}
template <class Range, class Test, class Project = identity>
constexpr bool any_of(Range&& range, Test test, Project project = {}) {
  return find_where(range, test, project) != std::end(range);
}
template <class Range, class Test, class Project = identity>
constexpr bool none_of(Range&& range, Test test, Project project = {}) {
  return find_where(range, test, project) == std::end(range);
}
template <class Range, class Test, class Project = identity>
constexpr bool all_of(Range&& range, Test test, Project project = {}) {
  const auto fails = [&](auto&& x) { return !std::invoke(test, x); };
  return find_where(range, fails, project) == std::end(range);
}
template <class Range, class Test, class Project = identity>
constexpr auto count_if(Range&& range, Test test, Project project = {}) {
  return std::count_if(std::begin(range), std::end(range), [&](auto&& x) -> bool {
    return std::invoke(test, std::invoke(project, x));
  });
}
template <class Range, class Value, class Project = identity>
constexpr auto count(Range&& range, const Value& value, Project project = {}) {
  return ranges::count_if(
      range, [&](const auto& x) { return x == value; }, project);
}
template <class Range, class Equal = equal_to>
constexpr auto adjacent_find(Range&& range, Equal equal = {}) {
  return std::adjacent_find(std::begin(range), std::end(range), equal);
}
template <class Range, class Compare = less, class Project = identity>
constexpr auto max_element(Range&& range, Compare compare = {}, Project project = {}) {
  return std::max_element(std::begin(range), std::end(range), projected_compare(compare, project));
}
template <class Range, class Compare = less, class Project = identity>
constexpr auto max(Range&& range, Compare compare = {}, Project project = {}) {
  return *std::max_element(std::begin(range), std::end(range), projected_compare(compare, project));
}
template <class Range, class Value, class Compare = less, class Project = identity>
constexpr auto lower_bound(Range&& range, const Value& value, Compare compare = {},
                           Project project = {}) {
  return std::lower_bound(std::begin(range), std::end(range), value,
                          [&](const auto& x, const Value& y) -> bool {
                            return std::invoke(compare, std::invoke(project, x), y);
                          });
}
template <class Range, class Compare = less, class Project = identity>
constexpr void sort(Range&& range, Compare compare = {}, Project project = {}) {
  std::sort(std::begin(range), std::end(range), projected_compare(compare, project));
}
template <class Range, class Compare = less, class Project = identity>
void stable_sort(Range&& range, Compare compare = {}, Project project = {}) {
  std::stable_sort(std::begin(range), std::end(range), projected_compare(compare, project));
}
template <class Range, class Iterator, class Compare = less, class Project = identity>
constexpr void nth_element(Range&& range, Iterator nth, Compare compare = {},
                           Project project = {}) {
  std::nth_element(std::begin(range), nth, std::end(range), projected_compare(compare, project));
}
template <class Range, class Value>
constexpr void replace(Range&& range, const Value& from, const Value& to) {
  std::replace(std::begin(range), std::end(range), from, to);
}
template <class Range, class Out, class Test>
constexpr void copy_if(Range&& range, Out out, Test test) {
  std::copy_if(std::begin(range), std::end(range), out, test);
}
template <class Range, class Out>
constexpr void move(Range&& range, Out out) {
  std::move(std::begin(range), std::end(range), out);
}

}  // namespace ranges
}  // namespace std

#endif
