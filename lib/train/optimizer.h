// Adam (Kingma and Ba 2015) with clipping of the gradient's norm, over one row of parameters.
#pragma once

#include <cstdint>
#include <span>

#include "compute/matmul.h"

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

  /// √Σ g². The additions run in blocks of fixed size: the same bits on any number of threads.
  static double norm(std::span<const float> gradients);

  /// One update, number step + 1 (of the bias correction), with the gradients' norm as norm() gives
  /// it. Where it is above clip_norm the gradients count clip_norm / (norm + 1e-6) times, as in
  /// PyTorch's clip_grad_norm_. Leaves the gradients zero. Weights and gradients have `size`.
  /// Whether all weights are finite.
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

}  // namespace attn
