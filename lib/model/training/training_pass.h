// One forward and backward pass of the whole model over a batch.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/at.h"
#include "model/packed_tokens.h"
#include "model/training/trainable_model.h"
#include "nn/attention/guided_alignment.h"
#include "nn/cross_entropy.h"

namespace attn {

/// A batch of sentence pairs ready for training; all three members are packed in the same order.
struct TrainingBatch {
  PackedTokens source;           ///< S tokens, each sentence ending in </s>
  PackedTokens decoder_input;    ///< T tokens: start symbol, then the target without its last token
  std::vector<int> targets;      ///< T tokens: the prediction for each row, ending in </s>
  std::vector<TokenLink> links;  ///< for guided alignment; may be empty

  /// Appends a pair; both sides must end in the end symbol.
  void add(std::span<const int> source_ids, std::span<const int> target_ids, int start);
  /// Adds the links of the pair that was added last; `query` counts from its first target token.
  void add_links(std::span<const TokenLink> links);
  void clear();
  /// Makes this batch hold all pairs of `once` twice.
  void set_repeated(const TrainingBatch& once);
  Index tokens() const { return std::ssize(targets); }
};

/// The cross-attention that is guided by a batch's links.
struct GuidedHeads {
  Index layer = 0;
  std::vector<int> heads;
  float weight = 0;  ///< λ
};

/// The options of one pass.
struct PassOptions {
  float label_smoothing = 0;
  /// Scales the accumulated gradients, which are those of gradient_scale · Σ loss; 1 / tokens gives
  /// the mean.
  float gradient_scale = 1;
  /// Weight of R-Drop (nn/cross_entropy.h). If positive, each pair passes through the model twice
  /// with different dropout masks.
  float r_drop = 0;
  const GuidedHeads* guided = nullptr;  ///< null: no alignment is guided
  bool dropout = true;                  ///< uses the config's three probabilities
  std::uint64_t seed = 0;               ///< for dropout
  std::uint64_t batch =
      0;  ///< number since training began, so that every batch gets different dropout masks
};

/// The layers in training and the memory for their activations, reused from batch to batch.
class TrainingPass {
 public:
  /// `model` must outlive the pass.
  TrainingPass(TrainableModel& model, Backend backend);
  ~TrainingPass();
  TrainingPass(const TrainingPass&) = delete;
  TrainingPass& operator=(const TrainingPass&) = delete;

  /// Reads the weights again; call this after changing them.
  void prepare();

  /// Runs forward and backward: returns the loss and adds to the model's gradients. Throws
  /// InputError if the batch does not fit the model (lengths, ids).
  LossSum run(const TrainingBatch& batch, const PassOptions& options);

  /// Runs the forward pass only, without dropout.
  LossSum loss(const TrainingBatch& batch, float label_smoothing);

 private:
  class Layers;
  std::unique_ptr<Layers> layers_;
  TrainingBatch repeated_;  ///< for R-Drop
};

/// The size of a batch.
struct BatchShape {
  std::uint64_t source_tokens = 0;
  std::uint64_t target_tokens = 0;
  std::uint64_t longest = 0;  ///< tokens of the longest sentence on either side
  std::uint64_t sentences = 0;
};

/// Returns an upper bound on the bytes of activations and scratch for such a batch; saturates at
/// 2⁶⁴ − 1.
std::uint64_t activation_bytes(const ModelConfig& config, const BatchShape& batch);

}  // namespace attn
