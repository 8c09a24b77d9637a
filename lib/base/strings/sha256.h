// SHA-256 (FIPS 180-4), for the checksums in model directories and checkpoints.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// A digest over bytes that arrive in chunks; the chunk boundaries do not matter.
class Sha256 {
 public:
  void update(std::string_view bytes);

  /// Returns the digest of all bytes so far as 64 lower-case hexadecimal digits. update() may be
  /// called again afterwards.
  std::string hex() const;

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  ///< the first count_ % 64 bytes are not hashed yet
  std::uint64_t count_ = 0;                ///< number of bytes so far
};

/// Returns the digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace attn
