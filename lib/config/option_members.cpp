// The option values in SearchOptions, declared in option_table.h.
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "config/option_table.h"

namespace attn {
namespace {

template <typename T>
constexpr bool is_optional = false;
template <typename T>
constexpr bool is_optional<std::optional<T>> = true;

/// The type of a member's value: for an optional, the type inside.
template <typename T>
struct Held {
  using Type = T;
};
template <typename T>
struct Held<std::optional<T>> {
  using Type = T;
};

/// Calls `action` with the member itself.
template <typename Options, typename Action>
auto with_member(Options& options, const OptionSpec& option, Action&& action) {
  return std::visit([&](auto member) { return action(options.*member); }, option.member);
}

/// Calls `action` with a value of the type that the member holds.
template <typename Test>
bool holds(const OptionSpec& option, Test&& test) {
  const SearchOptions none;
  return with_member(none, option, [&](const auto& value) {
    return test(typename Held<std::remove_cvref_t<decltype(value)>>::Type{});
  });
}

}  // namespace

bool is_whole(const OptionSpec& option) {
  return holds(option, [](const auto& value) {
    using T = std::remove_cvref_t<decltype(value)>;
    return std::is_integral_v<T> && !std::is_same_v<T, bool>;
  });
}

bool is_decimal(const OptionSpec& option) {
  return holds(option, [](const auto& value) {
    return std::is_floating_point_v<std::remove_cvref_t<decltype(value)>>;
  });
}

bool is_given(const SearchOptions& options, const OptionSpec& option) {
  const SearchOptions none;
  return std::visit([&](auto member) { return options.*member != none.*member; }, option.member);
}

std::optional<std::uint64_t> whole_in(const SearchOptions& options, const OptionSpec& option) {
  return with_member(options, option, [](const auto& value) -> std::optional<std::uint64_t> {
    using T = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<T, std::size_t>) {
      return value;
    } else if constexpr (is_optional<T> && std::is_integral_v<typename Held<T>::Type>) {
      if (value) return static_cast<std::uint64_t>(*value);
    }
    return std::nullopt;
  });
}

std::optional<double> decimal_in(const SearchOptions& options, const OptionSpec& option) {
  return with_member(options, option, [](const auto& value) -> std::optional<double> {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::optional<double>>) {
      return value;
    }
    return std::nullopt;
  });
}

void set_whole(SearchOptions& options, const OptionSpec& option, std::uint64_t value) {
  with_member(options, option, [&](auto& member) {
    using T = typename Held<std::remove_cvref_t<decltype(member)>>::Type;
    if constexpr (std::is_integral_v<T>) member = static_cast<T>(value);
  });
}

void set_decimal(SearchOptions& options, const OptionSpec& option, double value) {
  with_member(options, option, [&](auto& member) {
    if constexpr (std::is_floating_point_v<
                      typename Held<std::remove_cvref_t<decltype(member)>>::Type>)
      member = value;
  });
}

void set_flag(SearchOptions& options, const OptionSpec& option, bool value) {
  with_member(options, option, [&](auto& member) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, bool>) member = value;
  });
}

void set_text(SearchOptions& options, const OptionSpec& option, std::string value) {
  with_member(options, option, [&](auto& member) {
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<T, std::vector<std::string>>) {
      member.push_back(std::move(value));
    } else if constexpr (std::is_same_v<typename Held<T>::Type, std::string>) {
      member = std::move(value);
    }
  });
}

}  // namespace attn
