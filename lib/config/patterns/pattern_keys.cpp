#include "config/patterns/pattern_keys.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

/// One integer, or a list of them.
std::vector<int> read_integers(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find(key);
  if (value == nullptr) return {};
  std::vector<int> numbers;
  const auto add = [&](const Json& one) {
    const std::optional<int> number = as_int(one);
    if (!number) reader.fail_type(key, *value, "an integer or a list of integers");
    numbers.push_back(*number);
  };
  if (value->is_array()) {
    for (const Json& one : *value) add(one);
    if (numbers.empty()) reader.fail_type(key, *value, "at least one integer");
  } else {
    add(*value);
  }
  return numbers;
}

}  // namespace

int read_required_integer(KeyReader& reader, const std::string& key) {
  const std::optional<int> number = reader.integer(key);
  if (number) return *number;
  throw InputError("{}: {}{} is missing; give a whole number", reader.where(), reader.prefix(),
                   key);
}

void read_windows(KeyReader& reader, AttentionPattern& pattern) {
  pattern.windows = read_integers(reader, "window");
  if (!pattern.windows.empty()) return;
  throw InputError("{}: {}window is missing; give an even number, or a list of one a layer",
                   reader.where(), reader.prefix());
}

void read_globals(KeyReader& reader, AttentionPattern& pattern) {
  const Json* value = reader.find("global");
  if (value == nullptr) {
    pattern.globals = {0};
    return;
  }
  if (!value->is_array()) reader.fail_type("global", *value, "a list of places, as [0]");
  for (const Json& one : *value) {
    const std::optional<int> place = as_int(one);
    if (!place) reader.fail_type("global", *value, "a list of places, as [0]");
    pattern.globals.push_back(*place);
  }
  std::sort(pattern.globals.begin(), pattern.globals.end());
  if (std::adjacent_find(pattern.globals.begin(), pattern.globals.end()) != pattern.globals.end()) {
    reader.fail("global", fmt::format("{} has a place twice; keep one of them", describe(*value)));
  }
}

Json windows_json(const AttentionPattern& pattern) {
  return pattern.windows.size() == 1 ? Json(pattern.windows.front()) : Json(pattern.windows);
}

int stride_near_sqrt(Index tokens) {
  return std::max(1, to_int(std::lround(std::sqrt(static_cast<double>(tokens)))));
}

int quarter_of_tokens(int tokens) {
  return std::max(2, (tokens + 3) / 4);
}

std::string PatternCheck::written(std::string_view key) const {
  if (!stack.has_family_keys) return fmt::format("{}.{}", name, key);
  return std::string(key == "window"          ? "attention_window"
                     : key == "random_blocks" ? "num_random_blocks"
                                              : key);
}

void PatternCheck::size(const char* key, int value, int least, int most) const {
  if (value >= least && value <= most) return;
  throw InputError("{}: {} is {}; use {} to {} with {} positions", where, written(key), value,
                   least, most, stack.positions);
}

void PatternCheck::even(const char* key, int value, int most) const {
  if (value % 2 == 0) return;
  if (most < 2) {
    throw InputError("{}: {} is {}, which is odd; with {} position there is no other", where,
                     written(key), value, stack.positions);
  }
  std::string others = value > 1 ? std::to_string(value - 1) : "";
  if (value < most) others += (others.empty() ? "" : " or ") + std::to_string(value + 1);
  throw InputError("{}: {} is {}, which is odd; half of it lies on each side, so use {}", where,
                   written(key), value, others);
}

void PatternCheck::windows() const {
  const auto count = std::ssize(pattern.windows);
  if (count != 1 && count != stack.layers) {
    throw InputError("{}: {} has {} numbers; use one, or one for each of the {} layers", where,
                     written("window"), count, stack.layers);
  }
  for (const int window : pattern.windows) {
    size("window", window, 2, 2 * stack.positions);
    even("window", window, 2 * stack.positions);
  }
}

void PatternCheck::globals() const {
  for (const Index place : pattern.globals) {
    if (place >= 0 && place < stack.positions) continue;
    throw InputError("{}: {}.global has place {}; use 0 to {}", where, name, place,
                     stack.positions - 1);
  }
}

}  // namespace attn
