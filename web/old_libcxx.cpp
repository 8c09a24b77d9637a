#include "old_libcxx.h"

#if defined(_LIBCPP_VERSION) && _LIBCPP_VERSION < 15000

#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace std {
namespace {

/// The shortest digits of a number that is neither 0 nor infinite, and the position of the point
/// after the first digit.
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal shortest(float value) {
  // Input never needs 15 or more digits, so fmt uses scientific notation wherever it matters.
  const std::string text = fmt::format("{}", value);
  Decimal decimal;
  int point = -1, exponent = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '.') {
      point = static_cast<int>(decimal.digits.size());
    } else if (text[i] == 'e') {
      exponent = std::atoi(text.c_str() + i + 1);
      break;
    } else {
      decimal.digits += text[i];
    }
  }
  if (point < 0) point = static_cast<int>(decimal.digits.size());
  const std::size_t zeros = decimal.digits.find_first_not_of('0');
  decimal.digits.erase(0, zeros);
  decimal.digits.erase(decimal.digits.find_last_not_of('0') + 1);
  decimal.exponent = exponent + point - static_cast<int>(zeros) - 1;
  return decimal;
}

std::string scientific(const Decimal& d) {
  std::string out = d.digits.substr(0, 1);
  if (d.digits.size() > 1) out += "." + d.digits.substr(1);
  return out + fmt::format("e{}{:02}", d.exponent < 0 ? '-' : '+', std::abs(d.exponent));
}

std::string fixed_form(const Decimal& d, float value) {
  const int count = static_cast<int>(d.digits.size());
  if (d.exponent >= count - 1) return fmt::format("{:.0f}", value);  // an integer: print all digits
  if (d.exponent < 0)
    return "0." + std::string(static_cast<std::size_t>(-d.exponent - 1), '0') + d.digits;
  std::string out = d.digits;
  out.insert(static_cast<std::size_t>(d.exponent) + 1, ".");
  return out;
}

}  // namespace

to_chars_result to_chars(char* first, char* last, float value) {
  std::string out = std::signbit(value) ? "-" : "";
  const float size = std::abs(value);
  if (size == 0) {
    out += '0';
  } else {
    const Decimal decimal = shortest(size);
    const std::string one = fixed_form(decimal, size), other = scientific(decimal);
    out += one.size() <= other.size() ? one : other;
  }
  if (last - first < static_cast<std::ptrdiff_t>(out.size())) return {last, errc::value_too_large};
  return {std::copy(out.begin(), out.end(), first), errc()};
}

from_chars_result from_chars(const char* first, const char* last, double& value, chars_format) {
  const std::string_view text(first, static_cast<std::size_t>(last - first));
  const bool minus = text.starts_with('-');
  const std::size_t end =
      std::min(text.find_first_not_of("0123456789.", minus ? 1 : 0), text.size());
  if (text.substr(0, end).find_first_of("0123456789") == text.npos)
    return {first, errc::invalid_argument};
  const std::string number(text.substr(0, end));
  char* stop = nullptr;
  value = std::strtod(number.c_str(), &stop);
  return {first + (stop - number.c_str()), errc()};
}

}  // namespace std

#endif
