#include "service/values.h"

#include <charconv>
#include <system_error>

#include "base/strings/utf8.h"
#include "service/field_text.h"

namespace attn {

void refuse_value(const WholeField& field, std::string_view shown) {
  refuse_field(Field{field.name},
               fmt::format(" {}: expected a whole number from {} to {}, in plain decimals",
                           excerpt(shown), field.low, field.high));
}

void refuse_value(const DecimalField& field, std::string_view shown) {
  refuse_field(Field{field.name}, fmt::format(" {}: expected a decimal number from {} to {}",
                                              excerpt(shown), field.low, field.high));
}

std::uint64_t parse_whole(const WholeField& field, const std::string& text) {
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool plain = !text.empty() && text[0] >= '0' && text[0] <= '9' &&
                     (text.size() == 1 || text[0] != '0') && stop == end && error == std::errc();
  if (!plain || value < field.low || value > field.high) refuse_value(field, text);
  return value;
}

float parse_decimal(const DecimalField& field, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  const bool whole = !text.empty() && stop == end && error == std::errc();
  if (!whole || !(value >= field.low && value <= field.high)) refuse_value(field, text);
  return static_cast<float>(value);
}

int checked_whole(const WholeField& field, std::int64_t number) {
  const bool fits = number >= 0 && static_cast<std::uint64_t>(number) >= field.low &&
                    static_cast<std::uint64_t>(number) <= field.high;
  if (!fits) refuse_value(field, std::to_string(number));
  return static_cast<int>(number);
}

float checked_decimal(const DecimalField& field, double number) {
  if (!(number >= field.low && number <= field.high)) {
    refuse_value(field, fmt::format("{}", number));
  }
  return static_cast<float>(number);
}

}  // namespace attn
