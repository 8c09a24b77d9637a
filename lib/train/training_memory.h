// How much memory a training run will take, known before it begins.
#pragma once

#include <cstdint>

#include "config/model_config.h"
#include "config/train_config.h"
#include "model/training/training_pass.h"
#include "train/corpus.h"
#include "train/sampled_text.h"

namespace attn {

/// Bytes at the peak of a run; both saturate at 2⁶⁴ − 1.
struct TrainingMemory {
  /// Weights, gradients, moments, averages, and the products prepared from the weights.
  std::uint64_t parameters = 0;
  /// Activations and scratch of the largest batch.
  std::uint64_t activations = 0;
};
TrainingMemory training_memory(const ModelConfig& model, const TrainConfig& train,
                               const BatchShape& largest);

/// A batch of short sentences that fills train.batch_tokens on both sides: what is known before the
/// text is.
BatchShape expected_batch(const TrainConfig& train);

/// At least every batch of an epoch over this corpus.
BatchShape largest_batch(const Corpus& corpus, const TrainConfig& train);

/// At least every batch of any epoch that cuts the text anew: whatever the cuts, a batch's
/// sentences times its longest one are at most train.batch_tokens.
BatchShape largest_batch(const SubwordSampledText& text, const TrainConfig& train);

/// MemoryError, beginning with `where` and with the figures, where that is more than this process
/// may still allocate.
void require_training_memory(const TrainingMemory& memory, const BatchShape& largest,
                             const std::string& where);

}  // namespace attn
