// One forward and backward pass of the whole model over a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/at.h"
#include "model/packed_tokens.h"
#include "model/training/trainable_model.h"
#include "nn/cross_entropy.h"

namespace attn {

/// Sentence pairs made ready for training; all three are packed in the same order.
struct TrainingBatch {
  PackedTokens source;         ///< S tokens, each sentence ending in </s>
  PackedTokens decoder_input;  ///< T tokens: start symbol and the target without its last
  std::vector<int> targets;    ///< T tokens: what each row should predict, ending in </s>

  /// Both with the end symbol last.
  void add(std::span<const int> source_ids, std::span<const int> target_ids, int start);
  void clear();
  /// All pairs of `once`, and all of them again.
  void set_repeated(const TrainingBatch& once);
  Index tokens() const { return std::ssize(targets); }
};

/// What one pass is asked to do.
struct PassOptions {
  float label_smoothing = 0;
  /// The gradients added are those of gradient_scale · Σ loss: 1 / tokens for a mean.
  float gradient_scale = 1;
  /// R-Drop's weight (nn/cross_entropy.h). Above 0 each pair goes twice through the model, under
  /// other masks of dropout.
  float r_drop = 0;
  bool dropout = true;      ///< by the config's three probabilities
  std::uint64_t seed = 0;   ///< of dropout
  std::uint64_t batch = 0;  ///< its number since training began: every batch drops others
};

/// The layers in training, with the memory for their activations; kept from batch to batch.
class TrainingPass {
 public:
  /// `model` outlives the pass.
  TrainingPass(TrainableModel& model, Backend backend);
  ~TrainingPass();
  TrainingPass(const TrainingPass&) = delete;
  TrainingPass& operator=(const TrainingPass&) = delete;

  /// Reads the weights again: call after they have changed.
  void prepare();

  /// Forward and backward: returns the loss and adds to the model's gradients. InputError where the
  /// batch does not fit the model (lengths, ids).
  LossSum run(const TrainingBatch& batch, const PassOptions& options);

  /// Forward alone, without dropout.
  LossSum loss(const TrainingBatch& batch, float label_smoothing);

 private:
  class Layers;
  std::unique_ptr<Layers> layers_;
  TrainingBatch repeated_;  ///< of R-Drop
};

/// How large a batch is.
struct BatchShape {
  std::uint64_t source_tokens = 0;
  std::uint64_t target_tokens = 0;
  std::uint64_t longest = 0;  ///< tokens of its longest sentence, of either side
  std::uint64_t sentences = 0;
};

/// Bytes of activations and scratch of a pass over such a batch, at most. Saturates at 2⁶⁴ − 1.
std::uint64_t activation_bytes(const ModelConfig& config, const BatchShape& batch);

}  // namespace attn
