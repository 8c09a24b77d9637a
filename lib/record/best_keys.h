// What hashing found of what it looked for: each query's key with the largest score.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "record/attention_maps.h"

namespace attn {

struct LshRecall {
  std::vector<std::uint8_t> found;  ///< [queries] 1: the query met its best key in some round
  int of = 0;                     ///< queries that have one
  double mass = 0;                ///< mean of the queries' RecordedLshHead::mass

  int found_count() const;
  /// Of the queries, those that met their best key; nothing where none has one.
  std::optional<float> share() const;
};

/// Of one head of maps of lsh.
LshRecall lsh_recall(const AttentionMaps& maps, int layer, int head);

}  // namespace attn
