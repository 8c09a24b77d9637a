// Messages with long names, for a person.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// A valid UTF-8 message in which words of more than 300 bytes, and what is then still longer than
/// 4,000 bytes, lose their middle to "…".
std::string shortened(std::string_view message);

}  // namespace attn
