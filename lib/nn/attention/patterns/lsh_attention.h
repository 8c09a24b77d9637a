// Attention to the keys of the same hash: random rotations put queries, which are the keys, too,
// into buckets; sorted by bucket, the sentence is cut into chunks, and a chunk sees itself and the
// one before it. Several rounds, each with rotations of its own, are one softmax of all that they
// see, so that a key met twice counts twice (Kitaev et al. 2020, as transformers'
// LSHSelfAttention).
//
// Keys are normalised: k / √(mean(k²) + 10⁻⁶) · scale. A token looks at itself only where there is
// nothing else: its own score is −10⁵. The chunk before the first one is the last one of the round
// before. Sentences of one chunk at most look at all of themselves, once. The order is
// made in lsh_order.cpp, the way back in lsh_backward.cpp.
#pragma once

#include "nn/attention/multi_head_attention.h"
#include "nn/attention/patterns/performer_attention.h"

namespace attn {

/// One head's order of one sentence, all rounds one after another.
struct LshOrder {
  Index rounds = 1;
  Index chunk = 0;                    ///< places of a chunk
  std::vector<std::int32_t> buckets;  ///< [rounds, places]; −1 for padding; empty for one chunk
  std::vector<std::int32_t> places;  ///< chunk after chunk; −1 where a round's last one is not full

  Index chunks() const { return std::ssize(places) / chunk; }
};

/// Where head `head` of a group puts its rows. The type lsh's input has rotations.
LshOrder lsh_order(const AttentionShape& shape, const AttentionInput& input,
                   const AttentionGroup& group, Index head);

/// The way back of the kind lsh, with kept.dropout. Buckets have no gradient.
void attend_lsh_backward(const AttentionShape& shape, const AttentionInput& input,
                         const SavedForBackward& saved, const ConstMatrixRef& doutput,
                         AttentionInputGradient gradient);

// A chunk of a head of lsh and the keys that it sees: what its forward and backward passes share.

/// A token's score of itself.
inline constexpr float kSelfScore = -1e5F;

/// std::logic_error without rotations, for causal groups and for keys that lie in a cache.
void check_lsh(const AttentionInput& input, const AttentionGroup& group);

/// The rows of one head of one group by place, keys normalised.
struct LshHead {
  Index width = 0;
  Matrix query;    ///< [n, K]
  Matrix key;      ///< [n, K] normalised, times scale
  Matrix value;    ///< [n, K]
  Matrix inverse;  ///< [n, 1] 1 / √(mean(k²) + 10⁻⁶)

  LshHead(const AttentionShape& shape, const AttentionInput& input, const AttentionGroup& group,
          Index head);
};

/// A chunk: its queries and its keys by place, and their products.
struct LshChunk {
  std::vector<std::int32_t> queries;
  std::vector<std::int32_t> keys;
  TileMemory query;   ///< [queries, K]
  TileMemory scores;  ///< [queries, keys]
  TileMemory panels, out, maximum, sum;

  /// Chunk number c of the order: its places, and their scores.
  void load(const LshHead& head, const LshOrder& order, Index c);
  Index rows() const { return std::ssize(queries); }
  Index columns() const { return std::ssize(keys); }
  float* score(Index row) { return scores.reserve(0) + row * columns(); }
};

/// Numbers of the weights in dropout's mask, from the first of a row of a chunk.
Index first_weight(const LshOrder& order, Index head_number, Index c, Index row);

}  // namespace attn
