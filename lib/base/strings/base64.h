// Base64 (RFC 4648) with padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

void append_base64(std::string& out, std::string_view bytes);

/// Appends the bytes of the floats in little-endian order.
void append_base64(std::string& out, std::span<const float> values);

/// Decodes exactly `count` floats; nullopt if the text is not base64 of that many.
std::optional<std::vector<float>> decode_base64_floats(std::string_view text, std::uint64_t count);

/// Decodes bytes; nullopt if the text is not base64 or its padding is wrong.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace attn
