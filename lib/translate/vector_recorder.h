// Recording queries, keys and values beside the weights, and the rows on their way from layer to
// layer: what a step-by-step view shows.
#pragma once

#include "record/attention_record.h"
#include "translate/recorder.h"

namespace attn {

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

/// What enters a stack: the tokens' rows of the table times `scale`, and their positions.
std::vector<ResidualStreamState> embedding_steps(const StackParameters& stack, const ModelConfig& config,
                                          std::span<const int> ids);

}  // namespace attn
