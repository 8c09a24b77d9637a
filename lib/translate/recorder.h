// Records what attention did, by observing it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "compute/tensor.h"
#include "model/transformer.h"
#include "record/attention_record.h"

namespace attn {

/// Copies every head's weights of one batch into maps, one set per sentence.
class AttentionRecorder : public AttentionObserver {
 public:
  void weights_ready(AttentionHead& head) override;
  bool reads_scores() const override { return false; }

  /// Returns the maps of one sentence and site; [layers, heads, queries, keys]. Empty (no layers)
  /// if the site never ran.
  AttentionMaps take(AttentionSite site, Index sentence);

 private:
  std::vector<AttentionMaps> maps_[3];  ///< by site, then by sentence
};

/// Returns the log-softmax of `ids[t]` in row t of logits: one natural logarithm per row. Throws
/// InputError naming `model` if the logits or a result are not finite.
std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model = "the model");

// Recording queries, keys and values besides the weights, and the rows between the layers, for
// views that show the computation step by step.

/// Keeps weights like AttentionRecorder, and for one sentence and stack also every head's query,
/// key and value and the rows between the blocks.
class VectorRecorder : public AttentionRecorder {
 public:
  /// Without `vectors`, it is an AttentionRecorder.
  explicit VectorRecorder(bool vectors) : wanted_(vectors) {}

  void weights_ready(AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  /// Returns the vectors of one site, of sentence 0.
  AttentionVectors take_vectors(AttentionSite site);

  /// Returns the stages of the stack in the order of the pass. Stages that change nothing are left
  /// out (the output of a block that does not normalize it).
  std::vector<ResidualStreamState> take_residual_stream() { return std::move(residual_stream_); }

 private:
  bool wanted_;
  AttentionVectors vectors_[3];  ///< by site
  std::vector<ResidualStreamState> residual_stream_;
};

/// Returns the input of a stack: the tokens' rows of the table times `scale`, and their positions.
std::vector<ResidualStreamState> embedding_steps(const StackParameters& stack,
                                                 const ModelConfig& config,
                                                 std::span<const int> ids);

// The alternatives at each step: the likeliest tokens by the model's own softmax.

/// Number of alternatives per step in a record that is written to a file.
inline constexpr int recorded_alternatives = 10;

/// Returns the `count` likeliest tokens of each row of logits [L, V] (all V if that is fewer), and
/// the rank of produced[t] in row t. Tokens with the same logit are in the order of their ids. The
/// caller adds names. The logits must be finite, as log_probabilities() ensures; produced has L
/// ids below V.
Alternatives likeliest_tokens(const ConstMatrixRef& logits, std::span<const int> produced,
                              int count);

}  // namespace attn
