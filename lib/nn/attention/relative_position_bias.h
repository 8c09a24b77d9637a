// The relative position bias (Raffel et al. 2020, section 2.1): a head adds to each score a learned
// value for the distance between query and key. Distances share buckets
// (base/relative_position_buckets.h has the formula).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/at.h"
#include "compute/parameter.h"
#include "config/model_config.h"

namespace attn {

/// The biases of one attention by distance. The biases of a query with all keys are consecutive,
/// and the next query's begin one number earlier.
class RelativePositionBias {
 public:
  /// `table` [buckets, H]; sentences have at most this many positions.
  RelativePositionBias(const Parameter& table, const RelativePositionBiasConfig& positions,
                       bool causal, Index positions_count);

  /// Returns the biases [keys] of the query at this position. The next query's begin one float
  /// earlier.
  const float* of(Index head, Index position) const {
    return values_.data() + head * (2 * positions_ - 1) + positions_ - 1 - position;
  }

  Index buckets() const { return count_; }
  /// Returns [keys], the table row of each bias.
  const std::int32_t* buckets_of(Index position) const {
    return buckets_.data() + positions_ - 1 - position;
  }

 private:
  Index positions_;
  Index count_;                ///< rows of the table
  std::vector<float> values_;  ///< [H, 2 · positions − 1] by key − query + positions − 1
  std::vector<std::int32_t> buckets_;  ///< [2 · positions − 1] in the same order
};

/// The gradient of such a table. Each head of each group has its own sums, which are added in a
/// fixed order that does not depend on the threads.
class RelativePositionBiasGradient {
 public:
  /// If `bias` is null, nothing is summed. `tasks` is groups times heads.
  RelativePositionBiasGradient(const RelativePositionBias* bias, Index tasks)
      : bias_(bias), sums_(to_size(bias == nullptr ? 0 : tasks * bias->buckets())) {}

  bool wanted() const { return bias_ != nullptr; }
  /// Adds the score gradients of the query at `position` for all keys from the first on; key(j) is
  /// the index of the j-th of them.
  template <typename Key>
  void add(Index task, Index position, std::span<const float> dscores, Key&& key) {
    double* sums = sums_.data() + task * bias_->buckets();
    const std::int32_t* buckets = bias_->buckets_of(position);
    for (Index j = 0; j < std::ssize(dscores); ++j) {
      sums[buckets[key(j)]] += static_cast<double>(at(dscores, j));
    }
  }
  /// Adds the sums to table [buckets, H], divided by the factor that scaled the scores before the
  /// biases were added.
  void add_to(const Parameter& table, float scale) const;

 private:
  const RelativePositionBias* bias_;
  std::vector<double> sums_;  ///< [tasks, buckets]
};

}  // namespace attn
