#include "train/weight_average.h"

#include <algorithm>

#include "base/at.h"
#include "compute/matmul.h"

namespace attn {
namespace {

constexpr Index kAverageBlock = 4096;

/// y += share · (x − y), on the threads.
void blend(std::span<const float> x, float share, float* y) {
  const auto size = std::ssize(x);
  parallel_for((size + kAverageBlock - 1) / kAverageBlock, size * 2, [&](Index block) {
    const Index first = block * kAverageBlock;
    kernels().blend(x.data() + first, share, y + first, std::min(kAverageBlock, size - first));
  });
}

}  // namespace

WeightAverage::WeightAverage(const TrainConfig& config, std::span<const float> weights)
    : averaging_(config.average), decay_(config.average_decay) {
  if (averaging_ == WeightAveraging::none) return;
  mean_ = std::make_shared<AlignedFloats>(weights.size());
  std::copy(weights.begin(), weights.end(), mean_->data());
  if (averaging_ != WeightAveraging::checkpoints) return;
  for (std::uint64_t i = 0; i < config.average_last; ++i) {
    last_.emplace_back(weights.size());
    std::copy(weights.begin(), weights.end(), last_.back().data());
  }
}

void WeightAverage::after_update(std::span<const float> weights, std::uint64_t t) {
  if (averaging_ != WeightAveraging::exponential) return;
  const auto now = static_cast<double>(t);
  const double decay = std::min(decay_, (1.0 + now) / (10.0 + now));
  blend(weights, static_cast<float>(1.0 - decay), mean_->data());
}

void WeightAverage::after_checkpoint(std::span<const float> weights) {
  if (averaging_ != WeightAveraging::checkpoints) return;
  std::copy(weights.begin(), weights.end(), last_[snapshots_ % last_.size()].data());
  ++snapshots_;
}

std::shared_ptr<AlignedFloats> WeightAverage::evaluation_weights(const std::shared_ptr<AlignedFloats>& weights) {
  if (averaging_ == WeightAveraging::none) return weights;
  if (averaging_ == WeightAveraging::exponential) return mean_;
  if (snapshots_ == 0) return weights;
  const std::size_t count = std::min(to_size(snapshots_), last_.size());
  // The first is copied: blended with share 1, y + (x − y) would still round with the y of an
  // earlier call.
  std::copy_n(last_[0].data(), last_[0].size(), mean_->data());
  for (std::size_t i = 1; i < count; ++i) {
    // After i + 1 terms each counts 1 / (i + 1).
    blend({last_[i].data(), last_[i].size()}, 1.0F / static_cast<float>(i + 1), mean_->data());
  }
  return mean_;
}

std::vector<CheckpointArray> WeightAverage::arrays() {
  std::vector<CheckpointArray> arrays;
  if (averaging_ == WeightAveraging::exponential) {
    arrays.push_back({"average", {mean_->data(), mean_->size()}});
  }
  for (std::size_t i = 0; i < last_.size(); ++i) {
    arrays.push_back({"snapshot." + std::to_string(i), {last_[i].data(), last_[i].size()}});
  }
  return arrays;
}

}  // namespace attn
