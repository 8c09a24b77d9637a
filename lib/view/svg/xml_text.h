// Text from outside in XML.
#pragma once

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace attn {

/// Text for XML, in an element or a quoted attribute: marked-up characters escaped; controls,
/// bidirectional marks and line separators spelled out (base/utf8.h, printable); and what XML
/// forbids replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

/// Appends formatted text; what comes from outside is xml_escaped() by the caller.
template <typename... Args>
void append_format(std::string& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

}  // namespace attn
