// Values that have a range, as text and as numbers, and what is said of one that is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// A whole number that is asked for under a name.
struct WholeField {
  std::string_view name;
  std::uint64_t low;
  std::uint64_t high;
};

struct DecimalField {
  std::string_view name;
  double low;
  double high;
};

/// A plain decimal: no sign, no leading zero, no point. UsageError naming the field, what was given
/// and the range.
std::uint64_t parse_whole(const WholeField& field, const std::string& text);

/// A decimal number such as 0.6, 1 or -2; nothing else after it.
float parse_decimal(const DecimalField& field, const std::string& text);

/// The number, where it is in range; the same error.
int checked_whole(const WholeField& field, std::int64_t number);
float checked_decimal(const DecimalField& field, double number);

/// That error, of a value as it is shown.
[[noreturn]] void refuse_value(const WholeField& field, std::string_view shown);
[[noreturn]] void refuse_value(const DecimalField& field, std::string_view shown);

}  // namespace attn
