// Bytes as base64 (RFC 4648), with its padding.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

void append_base64(std::string& out, std::string_view bytes);

/// The bytes of floats, little-endian.
void append_base64(std::string& out, std::span<const float> values);

/// The floats back; nothing unless the text is base64 of just `count` of them.
std::optional<std::vector<float>> decode_base64_floats(std::string_view text, std::uint64_t count);

/// The bytes; nothing where the text is none, or its padding is not exact.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace attn
