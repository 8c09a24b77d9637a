// How much memory a training run will take, known before it begins.
#pragma once

#include <cstdint>

#include "config/model_config.h"
#include "config/train_config.h"

namespace attn {

/// Bytes at the peak of a run; both saturate at 2⁶⁴ − 1.
struct TrainingMemory {
  /// Weights, gradients, moments, averages, and the products prepared from the weights.
  std::uint64_t parameters = 0;
  /// Activations and scratch of a batch of train.batch_tokens on both sides.
  std::uint64_t activations = 0;
};
TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train);

}  // namespace attn
