// Shows heads to an observer after the fast code has computed them.
#pragma once

#include "nn/attention/attention.h"

namespace attn {

/// The matrices of one head of one group for an observer.
struct ObservedHead {
  const AttentionShape& shape;
  const AttentionGroup& group;
  const HeadRows& rows;
  Matrix key;      ///< [S, K]
  Matrix value;    ///< [S, K]
  Matrix scores;   ///< [L, S] query · key · scale
  Matrix mask;     ///< [L, S]
  Matrix weights;  ///< [L, S] filled in by the caller
  const PatternCells* seen = nullptr;
  std::span<const Index> global_projection_queries = {};
  std::span<const float> relative_bias = {};
  const LshBuckets* hashes = nullptr;
  bool is_estimate = false;

  /// Collects only keys and values.
  ObservedHead(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows);
  /// Collects keys, values and scores, with this mask.
  ObservedHead(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows,
               Matrix mask);
  /// Returns the view for the observer, which points into this object.
  AttentionHead view(Index head);
  /// Shows weights that are not a softmax of the scores. Recomputes the output if the observer
  /// changes them.
  void show(Index head, AttentionObserver& observer);
};

/// Shows every head of exact attention after `output` has been computed. Collects the head's
/// queries, keys and values, and lets lib/paper compute the weights in double. If the observer
/// changes the weights, recomputes the head's output from them.
void observe_heads(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                   AttentionObserver& observer);

/// Copies rows to one matrix [n, width].
Matrix gather_rows(const GatheredRows& from, Index n, Index width);

}  // namespace attn
