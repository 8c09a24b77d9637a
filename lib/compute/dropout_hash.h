// The random numbers of dropout: a function of a key and the element's index, so that the backward
// pass makes the forward pass's mask again instead of storing it, and every machine makes the same.
#pragma once

#include <cstdint>

namespace attn {

constexpr std::uint32_t kDropoutStride = 0x9E3779B9U;  // 2³² / golden ratio: spreads the indices
constexpr std::uint32_t kDropoutFirst = 0x7FEB352DU;
constexpr std::uint32_t kDropoutSecond = 0x846CA68BU;

/// 32 bits for element `index`: shifts and odd multipliers in turn, until every bit of the result
/// depends on every bit of the index. Keys are hashes themselves (nn/dropout): ones that differ in
/// a few upper bits only would give masks that resemble each other. Tests check that the bits are
/// even and that neighbours, and the masks of a pass, are independent.
constexpr std::uint32_t dropout_hash(std::uint64_t key, std::uint32_t index) {
  std::uint32_t h = index * kDropoutStride + static_cast<std::uint32_t>(key);
  h ^= h >> 16;
  h = (h * kDropoutFirst) ^ static_cast<std::uint32_t>(key >> 32);
  h ^= h >> 15;
  h *= kDropoutSecond;
  return h ^ (h >> 16);
}

}  // namespace attn
