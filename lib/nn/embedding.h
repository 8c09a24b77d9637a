// Token embeddings, position embeddings, and the rotary position embedding.
#pragma once

#include <span>

#include "compute/matmul.h"
#include "compute/tensor.h"
#include "config/family.h"

namespace attn {

/// The tokens of a batch, and the position of each in its sentence.
struct PositionedTokens {
  std::span<const int> ids;         ///< [T]
  std::span<const Index> position;  ///< [T]
};

/// The embedding tables, or their gradients.
struct EmbeddingTables {
  Parameter tokens;     ///< [V, D]
  Parameter positions;  ///< [P, D]; without data: none, as for gradients of positions that are not
                        ///< learned
  float scale = 1.0F;   ///< factor of the tokens' rows
  int token_without_position = -1;  ///< a token to which no position is added; -1: none
};

/// Sets out[t] = tokens[ids[t]] · scale + positions[position[t]], out [T, D]. For
/// `token_without_position`, no position is added. The caller checks ids and positions
/// (std::logic_error here).
void embed(const EmbeddingTables& tables, const PositionedTokens& placed, MatrixRef out);

/// Adds the gradients of embed(): tokens[ids[t]] += scale · dout[t], positions[position[t]] +=
/// dout[t]. The row of `frozen` (padding) does not change; −1: none.
void embed_backward(const ConstMatrixRef& dout, const PositionedTokens& placed, int frozen,
                    const EmbeddingTables& gradient);

/// Returns Marian's sinusoids for positions 0 … P−1 (Vaswani et al. 2017, section 3.5, with all
/// sines in the first half of the columns and all cosines in the second):
///   PE(p, i)            = sin(p / 10000^(2i/D))   for the first ⌈D/2⌉ columns
///   PE(p, ⌈D/2⌉ + i)    = cos(p / 10000^(2i/D))   for the other ⌊D/2⌋
/// They are computed in double and rounded once, as in transformers. Pegasus-X has D/2 − 1 instead
/// of D/2: the angles are p / 10000^(i / (D/2 − 1)), for an even D from 4 on. M2M100 computes
/// these in float32, which differs by 1e-4 at position 1,000, and so does this function. The first
/// row is that of position `first`, which only M2M100 and Pegasus-X use.
Matrix sinusoids(Index positions, Index d_model, SinusoidVariant kind = SinusoidVariant::marian,
                 Index first = 0);

// Rotary position embedding (Su et al. 2021, "RoFormer"): queries and keys are rotated by their
// positions, so that their dot product depends on the distance. Columns i and i + K/2 of a head are
// a pair, which position p rotates by the angle p / 10000^(2i/K):
//
//   y[i]       = x[i] · cos − x[i + K/2] · sin
//   y[i + K/2] = x[i + K/2] · cos + x[i] · sin
//
// The angles are those of Marian's sinusoids in a head's columns, and the pairs transformers'
// (rotate_half).

class RotaryEmbedding {
 public:
  /// Makes a table for this many positions and an even head_dim. Computed in double, rounded once.
  RotaryEmbedding(Index positions, Index head_dim);

  /// `backward` undoes `forward`; gradients use it.
  enum class Direction { forward, backward };

  /// Rotates every head of row t of `rows` [T, heads · K] by positions[t], in place.
  void apply_rotary(MatrixRef rows, std::span<const Index> positions, Direction direction) const;

 private:
  Index head_dim_;
  Matrix cosines_;  ///< [positions, K/2]
  Matrix sines_;
};

}  // namespace attn
