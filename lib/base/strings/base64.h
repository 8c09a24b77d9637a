// Bytes as base64 (RFC 4648), with its padding.
#pragma once

#include <string>
#include <string_view>

namespace attn {

void append_base64(std::string& out, std::string_view bytes);

}  // namespace attn
