#include "arguments.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"

namespace attn {

std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t low,
                          std::uint64_t high) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool plain = !text.empty() && text[0] >= '0' && text[0] <= '9' &&
                     (text.size() == 1 || text[0] != '0') && stop == end && error == std::errc();
  if (!plain || value < low || value > high) {
    throw UsageError("{} {}: expected a whole number from {} to {}, in plain decimals", option,
                     printable(text), low, high);
  }
  return value;
}

float parse_decimal(const std::string& option, const std::string& text, double low, double high) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (text.empty() || stop != end || error != std::errc() || !std::isfinite(value) || value < low ||
      value > high) {
    throw UsageError("{} {}: expected a decimal number from {} to {}", option, printable(text), low,
                     high);
  }
  return static_cast<float>(value);
}

}  // namespace attn
