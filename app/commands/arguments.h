// Reading choices from the command line, strictly, and what many commands have.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "service/field_text.h"
#include "service/option_values.h"

namespace attn {

/// Whether these look like one sentence without its quotation marks: several, without a blank.
bool are_single_words(const std::vector<std::string>& sentences);

/// Whether this is a head's whole name, such as cross:2:1, and so hardly a sentence.
bool is_head_name(const std::string& text);

/// --color, for a command that paints.
void add_color_to(CLI::App& command);

/// Makes a value that is no whole number in plain decimals, or out of range, a usage error.
CLI::Option* check_whole(CLI::Option& option, WholeField field);
/// The same for a decimal number.
CLI::Option* check_decimal(CLI::Option& option, DecimalField field);

/// Adds an option whose value is a number in the range of `field`, which names it.
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

/// Makes an empty value of any option but `allowed` a usage error that says what was expected:
/// `--beam ""` is a slip, not a way to ask for the default.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed);

}  // namespace attn
