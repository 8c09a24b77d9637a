#pragma once

#include <cstdint>

namespace attn {

/// Largest sizes accepted anywhere (docs/config.md); beyond them exit code 3.
struct ModelLimits {
  static constexpr std::int64_t d_model = 65'536;
  static constexpr std::int64_t layers = 1'000;
  static constexpr std::int64_t ffn_dim = 1'048'576;
  static constexpr std::int64_t vocab_size = 10'000'000;
  static constexpr std::int64_t positions = 1'048'576;
};

}  // namespace attn
