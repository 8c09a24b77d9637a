// Relative positions as a bias of the scores (Raffel et al. 2020, section 2.1): a head adds to a
// score what its table says of the distance between query and key. Distances share buckets
// (base/numbers/distance_buckets.h has the formula).
#pragma once

#include <vector>

#include "compute/parameter.h"
#include "config/model_config.h"

namespace attn {

/// The biases of one attention, spread out by distance: those of a query and of all keys lie in a
/// row, and the next query's begin one number before.
class DistanceBias {
 public:
  /// `table` [buckets, H]; sentences have at most so many `places`.
  DistanceBias(const Parameter& table, const RelativePositions& positions, bool causal,
               Index places);

  /// [keys] what the query at `place` adds to its score with each key. The query behind it has its
  /// own one float before.
  const float* of(Index head, Index place) const {
    return values_.data() + head * (2 * places_ - 1) + places_ - 1 - place;
  }

 private:
  Index places_;
  std::vector<float> values_;  ///< [H, 2 · places − 1] by key − query + places − 1
};

}  // namespace attn
