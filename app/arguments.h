// Reading numbers and choices from the command line, strictly.
#pragma once

#include <cstdint>
#include <string>

namespace attn {

/// A plain decimal from `low` to `high`: no sign, no leading zero, no point. UsageError naming the
/// option, what was given and the range.
std::uint64_t parse_whole(const std::string& option, const std::string& text, std::uint64_t low,
                          std::uint64_t high);

/// A decimal number such as 0.6, 1 or -2 within [low, high]; nothing else after it.
float parse_decimal(const std::string& option, const std::string& text, double low, double high);

}  // namespace attn
