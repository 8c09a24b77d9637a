// LSH attention: each query attends to keys with the same hash (Kitaev et al. 2020, as in
// transformers' LSHSelfAttention). Queries and keys are the same vectors. Random rotations assign
// them to buckets. The sentence is sorted by bucket and cut into chunks, and a chunk sees itself
// and the previous chunk. Several rounds with different rotations share one softmax, so a key that
// a query meets twice counts twice.
//
// Keys are normalized: k / √(mean(k²) + 10⁻⁶) · scale. A token's score with itself is −10⁵, so it
// attends to itself only if there is no other key. The chunk before the first one is the last chunk
// of the previous round. Sentences of at most one chunk have full attention, once. lsh_order.cpp
// sorts into chunks, and lsh_backward.cpp is the backward pass.
#pragma once

#include "nn/attention/multi_head_attention.h"
#include "nn/attention/patterns/performer_attention.h"

namespace attn {

/// The order of one sentence in one head, all rounds one after another.
struct LshOrder {
  Index rounds = 1;
  Index chunk = 0;                    ///< positions per chunk
  std::vector<std::int32_t> buckets;  ///< [rounds, places]; −1 for padding; empty for one chunk
  std::vector<std::int32_t>
      places;  ///< chunk after chunk; −1 where a round's last chunk is not full

  Index chunks() const { return std::ssize(places) / chunk; }
};

/// Returns the order into which head `head` of a group sorts its rows. The input of type lsh must
/// have rotations.
LshOrder lsh_order(const AttentionShape& shape, const AttentionInput& input,
                   const AttentionGroup& group, Index head);

/// Runs the backward pass of lsh, with saved.dropout. Buckets have no gradient.
void attend_lsh_backward(const AttentionShape& shape, const AttentionInput& input,
                         const SavedForBackward& saved, const ConstMatrixRef& doutput,
                         AttentionInputGradient gradient);

// A chunk of a head of lsh and the keys that it sees, shared by the forward and backward passes.

/// A token's score with itself.
inline constexpr float kSelfScore = -1e5F;

/// Throws std::logic_error without rotations, for causal groups and for keys in a cache.
void check_lsh(const AttentionInput& input, const AttentionGroup& group);

/// The rows of one head of one group by position, with normalized keys.
struct LshHead {
  Index width = 0;
  Matrix query;    ///< [n, K]
  Matrix key;      ///< [n, K] normalized, times scale
  Matrix value;    ///< [n, K]
  Matrix inverse;  ///< [n, 1] 1 / √(mean(k²) + 10⁻⁶)

  LshHead(const AttentionShape& shape, const AttentionInput& input, const AttentionGroup& group,
          Index head);
};

/// A chunk: its queries and keys by position, and their scores.
struct LshChunk {
  std::vector<std::int32_t> queries;
  std::vector<std::int32_t> keys;
  TileMemory query;   ///< [queries, K]
  TileMemory scores;  ///< [queries, keys]
  TileMemory panels, out, maximum, sum;

  /// Loads chunk number c of the order: its positions and their scores.
  void load(const LshHead& head, const LshOrder& order, Index c);
  Index rows() const { return std::ssize(queries); }
  Index columns() const { return std::ssize(keys); }
  float* score(Index row) { return scores.reserve(0) + row * columns(); }
};

/// Returns the index in dropout's mask of the first weight in a row of a chunk.
Index first_weight(const LshOrder& order, Index head_number, Index c, Index row);

}  // namespace attn
