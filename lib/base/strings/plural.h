// Counts with their nouns, for messages.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace attn {

/// Returns a count with its noun: "1 layer", "2 layers".
template <typename Count>
std::string counted(Count count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace attn
