// A head whose weights have been computed, before its observer.
#pragma once

#include "nn/attention/attention_head.h"

namespace attn {

/// What an observer sees of one head of one group. The output is there already; where the observer
/// changes weights, it is made again.
struct ObservedRows {
  const AttentionShape& shape;
  const AttentionGroup& group;
  const HeadRows& rows;
  Matrix key;      ///< [S, K]
  Matrix value;    ///< [S, K]
  Matrix scores;   ///< [L, S] query · key · scale
  Matrix mask;     ///< [L, S]
  Matrix weights;  ///< [L, S] the caller fills them in
  const SeenCells* seen = nullptr;
  std::span<const Index> own_projections = {};
  const HashOrder* hashes = nullptr;
  bool estimated = false;

  /// Keys and values alone.
  ObservedRows(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows);
  /// With the scores, and this mask.
  ObservedRows(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows,
               Matrix mask);
  /// What the observer is given; it points into this.
  AttentionHead view(Index head);
  void show(Index head, AttentionObserver& observer);
};

/// Rows as one matrix [n, width].
Matrix gathered(const GatheredRows& from, Index n, Index width);

}  // namespace attn
