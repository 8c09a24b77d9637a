#include "train/optimizer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/at.h"
#include "compute/matmul.h"

namespace attn {
namespace {

constexpr Index kAdamBlock = 4096;

/// Calls f(first, count) for blocks of [0, size) on the threads.
template <typename F>
void for_blocks(Index size, F&& f) {
  const Index blocks = (size + kAdamBlock - 1) / kAdamBlock;
  parallel_for(blocks, size * 4, [&](Index block) {
    const Index first = block * kAdamBlock;
    f(first, std::min(kAdamBlock, size - first));
  });
}

}  // namespace

Adam::Adam(std::size_t size, const AdamConfig& config)
    : config_(config), first_(size), second_(size) {
  std::fill_n(first_.data(), size, 0.0F);
  std::fill_n(second_.data(), size, 0.0F);
}

double Adam::norm(std::span<const float> gradients) {
  const auto size = std::ssize(gradients);
  std::vector<float> sums(to_size((size + kAdamBlock - 1) / kAdamBlock));
  for_blocks(size, [&](Index first, Index count) {
    at(sums, first / kAdamBlock) = kernels().sum_of_squares(gradients.data() + first, count);
  });
  double total = 0;
  for (const float sum : sums) total += static_cast<double>(sum);
  return std::sqrt(total);
}

bool Adam::update(std::span<float> weights, std::span<float> gradients, double norm,
                  double learning_rate) {
  ++step_;
  const auto t = static_cast<double>(step_);
  const auto beta1 = static_cast<double>(config_.beta1);
  const auto beta2 = static_cast<double>(config_.beta2);
  const auto clip = static_cast<double>(config_.clip_norm);
  const double scale = clip > 0 ? std::min(1.0, clip / (norm + 1e-6)) : 1.0;
  const AdamStep step{config_.beta1,
                      config_.beta2,
                      config_.epsilon,
                      static_cast<float>(learning_rate / (1.0 - std::pow(beta1, t))),
                      static_cast<float>(1.0 / std::sqrt(1.0 - std::pow(beta2, t))),
                      static_cast<float>(scale)};
  std::atomic<bool> finite = true;
  for_blocks(std::ssize(weights), [&](Index first, Index count) {
    if (!kernels().adam(step, {weights.data() + first, first_.data() + first,
                               second_.data() + first, gradients.data() + first, count})) {
      finite.store(false, std::memory_order_relaxed);
    }
  });
  return finite;
}

namespace {

constexpr Index kAverageBlock = 4096;

/// Computes y += share · (x − y) on the threads.
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

std::shared_ptr<AlignedFloats> WeightAverage::evaluation_weights(
    const std::shared_ptr<AlignedFloats>& weights) {
  if (averaging_ == WeightAveraging::none) return weights;
  if (averaging_ == WeightAveraging::exponential) return mean_;
  if (snapshots_ == 0) return weights;
  const std::size_t count = std::min(to_size(snapshots_), last_.size());
  // Copy the first snapshot. Blending with share 1, y + (x − y), would still round with the y of an
  // earlier call.
  std::copy_n(last_[0].data(), last_[0].size(), mean_->data());
  for (std::size_t i = 1; i < count; ++i) {
    // The mean of i + 1 terms gives the newest the weight 1 / (i + 1).
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
