// Where attention by hashing (lsh) has put the tokens of a sentence, in one head.
#pragma once

#include <cstdint>
#include <vector>

namespace attn {

struct LshBuckets {
  std::int32_t chunk = 0;  ///< tokens of a chunk; a round's last one may have fewer
  /// [rounds][tokens] each token's bucket. Empty: one chunk holds the sentence, and nothing was
  /// hashed.
  std::vector<std::vector<std::int32_t>> buckets = {};
  /// [rounds][tokens] the tokens by bucket, as chunks cut them; padding is in none.
  std::vector<std::vector<std::int32_t>> order = {};

  bool operator==(const LshBuckets&) const = default;
};

}  // namespace attn
