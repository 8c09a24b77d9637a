// Adam (Kingma and Ba 2015) with gradient clipping, over one array of all parameters, and averages
// of the weights.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "compute/matmul.h"
#include "config/train_config.h"
#include "train/run/checkpoint.h"

namespace attn {

struct AdamConfig {
  float beta1 = 0.9F;
  float beta2 = 0.98F;
  float epsilon = 1e-9F;
  float clip_norm = 1.0F;  ///< 0: no clipping
};

class Adam {
 public:
  Adam(std::size_t size, const AdamConfig& config);

  /// Returns √Σ g². Adds in blocks of fixed size, so the bits do not depend on the number of
  /// threads.
  static double norm(std::span<const float> gradients);

  /// Makes one update, number step + 1 for bias correction; `norm` must be norm(gradients). If it
  /// exceeds clip_norm, gradients are scaled by clip_norm / (norm + 1e-6), as in PyTorch's
  /// clip_grad_norm_. Sets the gradients to zero. Both spans must have `size` elements. Returns
  /// true if all weights are finite.
  [[nodiscard]] bool update(std::span<float> weights, std::span<float> gradients, double norm,
                            double learning_rate);

  std::span<float> first_moments() { return {first_.data(), first_.size()}; }
  std::span<float> second_moments() { return {second_.data(), second_.size()}; }
  std::uint64_t step() const { return step_; }
  void set_step(std::uint64_t step) { step_ = step; }

 private:
  AdamConfig config_;
  AlignedFloats first_;
  AlignedFloats second_;
  std::uint64_t step_ = 0;
};

// The averaged copy of the weights, which translates better than the final ones.

/// Polyak averaging in two forms: an exponential mean of all updates, or the mean of the weights at
/// the last checkpoints (Vaswani et al. 2017, section 6.1). WeightAveraging::none keeps nothing.
class WeightAverage {
 public:
  WeightAverage(const TrainConfig& config, std::span<const float> weights);

  /// Adds the weights after update t (from 1). Early on, the exponential mean forgets faster, (1 +
  /// t) / (10 + t), so that the random initial weights do not linger.
  void after_update(std::span<const float> weights, std::uint64_t t);

  /// Adds the weights at a checkpoint.
  void after_checkpoint(std::span<const float> weights);

  /// Returns the weights to validate and keep: the average, or `weights` if there is none (yet).
  std::shared_ptr<AlignedFloats> evaluation_weights(const std::shared_ptr<AlignedFloats>& weights);

  /// Returns the arrays for checkpoints; the total in snapshots() decides which of them count.
  std::vector<CheckpointArray> arrays();
  std::uint64_t snapshots() const { return snapshots_; }
  void set_snapshots(std::uint64_t snapshots) { snapshots_ = snapshots; }

 private:
  WeightAveraging averaging_;
  double decay_;
  std::shared_ptr<AlignedFloats> mean_;
  std::vector<AlignedFloats> last_;  ///< ring buffer
  std::uint64_t snapshots_ = 0;
};

}  // namespace attn
