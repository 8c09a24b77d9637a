// Watching attention, and changing it: the one window through which records, explanations and
// what-if experiments see a head at work.
#pragma once

#include "base/attention_kind.h"
#include "base/tensor.h"

namespace attn {

/// One head of one sentence while it is computed. Every matrix is alive during the call only.
struct AttentionHead {
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0;
  Index head = 0;
  Index sentence = 0;  ///< index in the batch
  float scale = 1.0F;  ///< 1/√head_dim, or 1 where the model does not scale

  Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> query;  ///< [L, K]
  const Matrix& key;                                        ///< [S, K]
  const Matrix& value;                                      ///< [S, K]
  const Matrix& scores;  ///< [L, S] query · keyᵀ · scale, before the mask
  const Matrix& mask;    ///< [L, S] 0 where a query may look, −∞ where it may not
  MatrixRef weights;     ///< [L, S] softmax(scores + mask), rows sum to 1; may be changed
  MatrixRef output;      ///< [L, K] weights · value; filled in when output_ready is called
};

/// Attention calls both methods for every head, in the order sentence, head. A null observer is off
/// and costs nothing; with one, the numbers are the same, to the bit.
class AttentionObserver {
 public:
  virtual ~AttentionObserver() = default;

  /// Weights are known and not yet used: what is written to them is what the model goes on with.
  virtual void weights_ready(AttentionHead& head) = 0;

  /// The head's output is known, made from the weights as weights_ready left them.
  virtual void output_ready(const AttentionHead& head) { static_cast<void>(head); }
};

}  // namespace attn
