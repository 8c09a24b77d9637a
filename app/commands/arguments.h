// Reading numbers and choices from the command line, strictly.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "model/directory/safetensors.h"

namespace attn {

/// Does what an option asks for. Libraries know no options: where one refuses what was typed (or,
/// as SystemError, the system does what the option names), the option's name comes before its
/// words.
template <typename Refusal = UsageError, typename Action>
auto for_option(std::string_view option, Action&& action) {
  try {
    return action();
  } catch (const Refusal& error) {
    throw Refusal("{} {}", option, error.what());
  }
}

/// A plain decimal from `low` to `high`: no sign, no leading zero, no point. UsageError naming the
/// option, what was given and the range.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t low,
                          std::uint64_t high);

/// A decimal number such as 0.6, 1 or -2 within [low, high]; nothing else after it.
float parse_decimal(const std::string& option, const std::string& text, double low, double high);

/// float32, float16, bfloat16 or int8; UsageError otherwise.
DType parse_dtype(const std::string& option, const std::string& text);

/// Whether these look like one sentence without its quotation marks: several, without a blank.
bool are_single_words(const std::vector<std::string>& sentences);

/// Whether this is a head's whole name, such as cross:2:1, and so hardly a sentence.
bool is_head_name(const std::string& text);

/// --color, for a command that paints.
void add_color_to(CLI::App& command);

/// Makes an empty value of any option but `allowed` a usage error that says what was expected:
/// `--beam ""` is a slip, not a way to ask for the default.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed);

}  // namespace attn
