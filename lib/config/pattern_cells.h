#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/at.h"

namespace attn {

/// Why a query looks at a key, where attention follows a pattern.
enum class PatternReason : std::uint8_t {
  full,    ///< everything is looked at
  window,  ///< the key is near
  global,  ///< one of the two looks at all and is looked at by all
  random,  ///< drawn
  stride,  ///< a multiple of the stride away, or the summary of another block
  block    ///< the same block
};

/// "full", "window", "global", "random", "stride" or "block".
constexpr std::string_view reason_name(PatternReason reason) {
  constexpr std::array<std::string_view, 6> words = {"full",   "window", "global",
                                                     "random", "stride", "block"};
  return at(words, reason);
}

}  // namespace attn
