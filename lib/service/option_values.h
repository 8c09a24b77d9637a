// Values of options: reading them from text, checking their ranges, and the errors for wrong ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "config/decode_config.h"
#include "config/option_table.h"

namespace attn {

/// The range of a whole number, and the name of the option that holds it.
struct WholeField {
  std::string_view name;
  std::uint64_t low;
  std::uint64_t high;
};

/// The same of a number that may have a fraction.
struct DecimalField {
  std::string_view name;
  double low;
  double high;
};

/// Reads a plain decimal: no sign, no leading zero, no point. UsageError naming the field, the text
/// and the range.
std::uint64_t parse_whole(const WholeField& field, const std::string& text);

/// Reads a decimal number such as 0.6, 1 or -2, with nothing after it. UsageError likewise.
float parse_decimal(const DecimalField& field, const std::string& text);

/// Returns the number if it is in range; UsageError likewise.
int checked_whole(const WholeField& field, std::int64_t number);
float checked_decimal(const DecimalField& field, double number);

/// Throws that UsageError; `shown` is the value as the message shows it.
[[noreturn]] void refuse_value(const WholeField& field, std::string_view shown);
[[noreturn]] void refuse_value(const DecimalField& field, std::string_view shown);

/// The whole-number or decimal range of an option, for messages.
WholeField whole_field(const OptionSpec& option);
DecimalField decimal_field(const OptionSpec& option);

/// Stores a value that was given as text: of the command line, or of Python. UsageError naming the
/// field for text that is no value of the option.
void read_option(SearchOptions& options, const OptionSpec& option, const std::string& text);

/// Converts the options that were given into the keys of generation_config.json. UsageError naming the field, its value and its range for a value that is out of range, and
/// for options that exclude each other.
DecodeOptions decode_options(const SearchOptions& given);

}  // namespace attn
