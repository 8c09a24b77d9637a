// The averaged copy of the weights, which translates better than the last ones do.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/matmul.h"
#include "config/train_config.h"
#include "train/run/checkpoint.h"

namespace attn {

/// Polyak averaging in two forms: an exponential mean of all updates, or the mean of the last
/// checkpoints' weights (Vaswani et al. 2017, section 6.1). Averaging::none keeps nothing.
class WeightAverage {
 public:
  WeightAverage(const TrainConfig& config, std::span<const float> weights);

  /// Update t (from 1) was made. Early on the exponential mean forgets faster, (1 + t) / (10 + t),
  /// so that the random weights it began with do not linger.
  void after_update(std::span<const float> weights, std::uint64_t t);

  /// A checkpoint is being written.
  void after_checkpoint(std::span<const float> weights);

  /// What is validated and kept: the average, or `weights` where there is none (yet).
  std::shared_ptr<AlignedFloats> evaluation_weights(const std::shared_ptr<AlignedFloats>& weights);

  /// For checkpoints; snapshots() in all decides which of them count.
  std::vector<CheckpointArray> arrays();
  std::uint64_t snapshots() const { return snapshots_; }
  void set_snapshots(std::uint64_t snapshots) { snapshots_ = snapshots; }

 private:
  WeightAveraging averaging_;
  double decay_;
  std::shared_ptr<AlignedFloats> mean_;
  std::vector<AlignedFloats> last_;  ///< a ring
  std::uint64_t snapshots_ = 0;
};

}  // namespace attn
