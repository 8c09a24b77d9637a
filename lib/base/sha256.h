// SHA-256 (FIPS 180-4), for the checksums that a model directory may carry.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace attn
