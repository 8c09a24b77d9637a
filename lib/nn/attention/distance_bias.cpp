#include "nn/attention/distance_bias.h"

#include "base/at.h"
#include "base/numbers/distance_buckets.h"

namespace attn {

DistanceBias::DistanceBias(const Parameter& table, const RelativePositions& positions, bool causal,
                           Index places)
    : places_(places), values_(to_size(table.columns * (2 * places - 1))) {
  const DistanceBuckets buckets{positions.buckets, positions.max_distance, causal};
  for (Index distance = 1 - places; distance < places; ++distance) {
    const Index bucket = buckets.of(distance);
    for (Index head = 0; head < table.columns; ++head) {
      at(values_, head * (2 * places - 1) + distance + places - 1) = table.at(bucket, head);
    }
  }
}

}  // namespace attn
