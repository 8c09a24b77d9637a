// Strict parsing of command-line values, and options that many commands share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "service/field_text.h"
#include "service/option_values.h"

namespace attn {

/// True if these look like one unquoted sentence: several arguments without a space.
bool are_single_words(const std::vector<std::string>& sentences);

/// True if this is a full head name such as cross:2:1, and thus hardly a sentence.
bool is_head_name(const std::string& text);

/// Adds --color to a command with colored output.
void add_color_to(CLI::App& command);

/// Requires an integer in plain decimals within the field's range; anything else is a usage error.
CLI::Option* check_whole(CLI::Option& option, WholeField field);
/// Same for a decimal number.
CLI::Option* check_decimal(CLI::Option& option, DecimalField field);

/// Adds an option whose value is a number in the range of `field`.
template <typename Number, typename Range>
CLI::Option* add_number(CLI::App& command, Number& value, const Range& field,
                        const std::string& help) {
  CLI::Option* option = command.add_option(option_name(field.name), value, help);
  if constexpr (std::is_same_v<Range, WholeField>) {
    return check_whole(*option, field);
  } else {
    return check_decimal(*option, field);
  }
}

/// Makes an empty value a usage error that says what was expected, for all options except
/// `allowed`: `--beam ""` is a mistake, not a request for the default.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed);

}  // namespace attn
