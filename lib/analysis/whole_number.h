#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace attn {

/// A plain decimal, 0 … 2³¹−1: no sign, no leading zero, nothing after it.
inline std::optional<int> whole_number(std::string_view text) {
  if (text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  if (text.size() > 1 && text[0] == '0') return std::nullopt;
  int value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || stop != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace attn
