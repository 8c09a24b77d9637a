// Reading numbers and choices from the command line, strictly.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "model/safetensors.h"

namespace attn {

/// A plain decimal from `low` to `high`: no sign, no leading zero, no point. UsageError naming the
/// option, what was given and the range.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t low,
                          std::uint64_t high);

/// A decimal number such as 0.6, 1 or -2 within [low, high]; nothing else after it.
float parse_decimal(const std::string& option, const std::string& text, double low, double high);

/// float32, float16 or bfloat16; UsageError otherwise.
DType parse_dtype(const std::string& option, const std::string& text);

/// UsageError where the output `file` of `option` is the regular file `input`, which `input_name`
/// names.
void refuse_overwriting(const std::string& option, const std::string& file,
                        const std::string& input_name, const std::string& input);

/// Makes an empty value of any option but `allowed` a usage error that says what was expected:
/// `--beam ""` is a slip, not a way to ask for the default.
void refuse_empty_values(CLI::App& command, const std::vector<std::string>& allowed);

}  // namespace attn
