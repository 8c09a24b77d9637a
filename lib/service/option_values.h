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

/// The range and option of a number that may have a fraction.
struct DecimalField {
  std::string_view name;
  double low;
  double high;
};

/// Reads a plain decimal number: no sign, no leading zero, no point. Throws UsageError that names
/// the field, the text and the range.
std::uint64_t parse_whole(const WholeField& field, const std::string& text);

/// Reads a decimal number such as 0.6, 1 or -2, with nothing after it. Throws the same error.
float parse_decimal(const DecimalField& field, const std::string& text);

/// Returns the number if it is in range; throws the same error otherwise.
int checked_whole(const WholeField& field, std::int64_t number);
float checked_decimal(const DecimalField& field, double number);

/// Throws that UsageError; `shown` is the value in its message.
[[noreturn]] void refuse_value(const WholeField& field, std::string_view shown);
[[noreturn]] void refuse_value(const DecimalField& field, std::string_view shown);

/// Returns the integer or decimal range of an option, for messages.
WholeField whole_field(const OptionSpec& option);
DecimalField decimal_field(const OptionSpec& option);

/// Stores a value that was given as text, on the command line or in Python. Throws UsageError that
/// names the field for text that is not a value of the option.
void read_option(SearchOptions& options, const OptionSpec& option, const std::string& text);

/// Converts the given options to the keys of generation_config.json. Throws UsageError for a value
/// out of range, naming the field, its value and its range, and for options that exclude each
/// other.
DecodeOptions decode_options(const SearchOptions& given);

}  // namespace attn
