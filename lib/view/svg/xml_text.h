// Text from outside in XML.
#pragma once

#include <string>
#include <string_view>

#include "view/text_output.h"

namespace attn {

/// Text for XML, in an element or a quoted attribute: marked-up characters escaped; controls,
/// bidirectional marks and line separators spelled out (base/strings/utf8.h, printable); and what
/// XML forbids replaced by U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace attn
