// Heads before an observer. What the fast code computes is done by then; here it is shown.
#pragma once

#include "nn/attention/attention.h"

namespace attn {

/// What an observer sees of one head of one group.
struct ObservedHead {
  const AttentionShape& shape;
  const AttentionGroup& group;
  const HeadRows& rows;
  Matrix key;      ///< [S, K]
  Matrix value;    ///< [S, K]
  Matrix scores;   ///< [L, S] query · key · scale
  Matrix mask;     ///< [L, S]
  Matrix weights;  ///< [L, S] the caller fills them in
  const PatternCells* seen = nullptr;
  std::span<const Index> global_projection_queries = {};
  std::span<const float> relative_bias = {};
  const LshBuckets* hashes = nullptr;
  bool is_estimate = false;

  /// Keys and values alone.
  ObservedHead(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows);
  /// With the scores, and this mask.
  ObservedHead(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows,
               Matrix mask);
  /// What the observer is given; it points into this.
  AttentionHead view(Index head);
  /// Shows weights that are no softmax of the scores. Where the observer changes them, the output
  /// is made again.
  void show(Index head, AttentionObserver& observer);
};

/// Shows every head of exact attention, whose output is there. Its rows of queries, keys and values
/// are gathered, wherever the fast code has them, and lib/paper computes the weights in double.
/// Where the observer changes them, the head's output is made from the changed ones.
void observe_heads(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                   AttentionObserver& observer);

/// Rows as one matrix [n, width].
Matrix gather_rows(const GatheredRows& from, Index n, Index width);

}  // namespace attn
