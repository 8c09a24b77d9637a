// SHA-256 (FIPS 180-4), for the checksums that model directories and checkpoints carry.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace attn {

/// The digest of bytes that come piece by piece; how they are cut does not matter.
class Sha256 {
 public:
  void update(std::string_view bytes);

  /// The digest of all bytes so far as 64 lower-case hexadecimal digits. More may follow.
  std::string hex() const;

 private:
  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};  ///< the first count_ % 64 bytes wait for the rest
  std::uint64_t count_ = 0;                ///< bytes so far
};

/// The digest of `bytes` as 64 lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace attn
