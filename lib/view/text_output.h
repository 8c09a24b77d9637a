// Text and numbers put at the end of a string: what every written view is made of.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <utility>

namespace attn {

/// Appends formatted text; what comes from outside is escaped by the caller.
template <typename... Args>
void append_format(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

/// The shortest decimal that reads back to the same float; "NaN", "Infinity", "-Infinity".
void append_float(std::string& out, float weight);

}  // namespace attn
