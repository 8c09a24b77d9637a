// Recording what attention did: the first of the observers.
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

  /// The maps of one sentence and kind; [layers, heads, queries, keys]. Empty (no layers) where the
  /// kind never ran.
  AttentionMaps take(AttentionSite site, Index sentence);

 private:
  std::vector<AttentionMaps> maps_[3];  ///< by kind, then by sentence
};

/// log-softmax of `ids[t]` in row t of logits: natural logarithms, one a row. InputError naming
/// `model` where the logits, or one of the results, are not finite.
std::vector<float> log_probabilities(const ConstMatrixRef& logits, std::span<const int> ids,
                                     std::string_view model = "the model");

// Recording queries, keys and values beside the weights, and the rows on their way from layer to
// layer: what a step-by-step view shows.

/// Keeps weights like AttentionRecorder, and every head's query, key and value and the rows between
/// the blocks, of one sentence and stack.
class VectorRecorder : public AttentionRecorder {
 public:
  /// Without vectors it is an AttentionRecorder.
  explicit VectorRecorder(bool vectors) : wanted_(vectors) {}

  void weights_ready(AttentionHead& head) override;
  void stage_ready(const StageView& view) override;

  /// The vectors of one kind, of sentence 0.
  AttentionVectors take_vectors(AttentionSite site);

  /// The stages of the stack in the order of the pass, those left out that change nothing (the
  /// output of a block that does not norm it).
  std::vector<ResidualStreamState> take_residual_stream() { return std::move(residual_stream_); }

 private:
  bool wanted_;
  AttentionVectors vectors_[3];  ///< by kind
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
