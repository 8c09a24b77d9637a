// Rotary positions (Su et al. 2021, "RoFormer"): queries and keys are turned by their places, so
// that their product depends on how far apart they stand. Column i and column i + K/2 of a head are
// a pair, which place p turns by the angle p / 10000^(2i/K):
//
//   y[i]       = x[i] · cos − x[i + K/2] · sin
//   y[i + K/2] = x[i + K/2] · cos + x[i] · sin
//
// The angles are those of Marian's sinusoids in a head's columns, and the pairs transformers'
// (rotate_half).
#pragma once

#include <span>

#include "compute/tensor.h"

namespace attn {

class RotaryEmbedding {
 public:
  /// For so many places, and heads of so many columns, an even number. In double, rounded once.
  RotaryEmbedding(Index positions, Index head_dim);

  /// Which way: `back` undoes `on`, and is the way of gradients.
  enum class Direction { forward, backward };

  /// In place: every head of row t, one after another in `rows` [T, heads · K], by places[t].
  void apply_rotary(MatrixRef rows, std::span<const Index> positions, Direction direction) const;

 private:
  Index head_dim_;
  Matrix cosines_;  ///< [places, K/2]
  Matrix sines_;
};

}  // namespace attn
