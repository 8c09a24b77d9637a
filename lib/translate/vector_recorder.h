// Recording queries, keys and values beside the weights: what a step-by-step view computes from.
#pragma once

#include "record/attention_record.h"
#include "translate/recorder.h"

namespace attn {

/// Keeps weights like AttentionRecorder, and every head's query, key and value, of one sentence.
class VectorRecorder : public AttentionRecorder {
 public:
  /// Without vectors it is an AttentionRecorder.
  explicit VectorRecorder(bool vectors) : wanted_(vectors) {}

  void weights_ready(AttentionHead& head) override;

  /// The vectors of one kind, of sentence 0.
  AttentionVectors take_vectors(AttentionKind kind);

 private:
  bool wanted_;
  AttentionVectors vectors_[3];  ///< by kind
};

}  // namespace attn
