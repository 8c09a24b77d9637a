#include "nn/attention/relative_position_bias.h"

#include "base/relative_position_buckets.h"

namespace attn {

RelativePositionBias::RelativePositionBias(const Parameter& table,
                                           const RelativePositionBiasConfig& positions, bool causal,
                                           Index positions_count)
    : positions_(positions_count),
      count_(table.rows),
      values_(to_size(table.columns * (2 * positions_count - 1))),
      buckets_(to_size(2 * positions_count - 1)) {
  const RelativePositionBuckets buckets{positions.buckets, positions.max_distance, causal};
  for (Index distance = 1 - positions_count; distance < positions_count; ++distance) {
    const Index bucket = buckets.of(distance);
    at(buckets_, distance + positions_count - 1) = narrow_cast<std::int32_t>(bucket);
    for (Index head = 0; head < table.columns; ++head) {
      at(values_, head * (2 * positions_count - 1) + distance + positions_count - 1) =
          table.at(bucket, head);
    }
  }
}

void RelativePositionBiasGradient::add_to(const Parameter& table, float scale) const {
  const Index heads = table.columns;
  const Index tasks = std::ssize(sums_) / bias_->buckets();
  for (Index bucket = 0; bucket < bias_->buckets(); ++bucket) {
    for (Index head = 0; head < heads; ++head) {
      double sum = 0;
      for (Index task = head; task < tasks; task += heads) {
        sum += at(sums_, task * bias_->buckets() + bucket);
      }
      table.element(bucket, head) += static_cast<float>(sum / static_cast<double>(scale));
    }
  }
}

}  // namespace attn
