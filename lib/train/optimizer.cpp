#include "train/optimizer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "base/at.h"

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

}  // namespace attn
