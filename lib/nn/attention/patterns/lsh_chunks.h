// A chunk of a head of lsh and the keys that it sees: what its forward and backward passes share.
#pragma once

#include "nn/attention/patterns/lsh_attention.h"
#include "nn/attention/patterns/performer_features.h"

namespace attn {

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
