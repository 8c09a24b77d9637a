// Attention through random features: softmax's exp(q · k · scale) is the mean of products of
// features φ(q)_f φ(k)_f, so that sums over keys are there once for all queries.
//
//   o_i = φ(q_i)ᵀ (Σ_j φ(k_j) v_jᵀ) / φ(q_i)ᵀ (Σ_j φ(k_j))
//
// (Choromanski et al. 2021, FAVOR+: positive features, orthogonal within blocks of K.) Time and
// memory grow with N · m. Causal: the sums over the keys so far, so that row i is what the whole
// computes from the first i + 1 keys, and a cached step keeps the sums alone (PerformerState). The
// way back is in performer_backward.cpp.
#pragma once

#include "nn/attention/multi_head_attention.h"

namespace attn {

/// attend() of the type performer. std::logic_error where the input has no features.
void attend_performer(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer);

/// attend_backward() of attend_performer(), whose output `output` is. The stabilisers count as
/// constants, as in performer-pytorch.
void attend_performer_backward(const AttentionShape& shape, const AttentionInput& input,
                               const ConstMatrixRef& output, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient);

struct CausalTileMask;

/// What a causal head keeps of the keys so far: sums that new keys join.
class PerformerState {
 public:
  /// Floats that a head needs.
  static Index size(Index features, Index head_dim);
  /// Over `memory` [size()]; begin() before the first key.
  PerformerState(float* memory, Index features, Index head_dim)
      : memory_(memory), m_(features), width_(head_dim) {}

  void begin();
  float& maximum() const { return memory_[0]; }  ///< the largest w_f · s k so far
  /// Makes the sums those with another maximum.
  void rescale(float to) const;
  /// A key's exponentials [m] under the maximum, and its value [K].
  void add(const float* exponentials, const float* value) const;
  /// A tile's n keys: exponentials [n, m] as `sight` says, which change, and values [n, K].
  void add(const CausalTileMask& tile_mask, Index n, float* exponentials,
           const float* tile_values) const;
  /// What features u [n, m] make of the sums without ε → out [n, K] and divisors [n].
  void read(const float* u, Index n, float* out, float* divisors) const;
  /// What a query with features u [m] gets → out [K]. Returns the divisor.
  float read(const float* u, float* out) const;

  Index width() const { return width_; }
  float* sums() const { return memory_ + 1; }             ///< [m, K] Σ exponential · value
  float* totals() const { return sums() + m_ * width_; }  ///< [m] Σ exponential
  float* values() const { return totals() + m_; }         ///< [K] Σ value
  float& keys() const { return values()[width_]; }        ///< how many
 private:
  float* memory_;
  Index m_;
  Index width_;
};

/// One more row of each of several sentences: their queries, keys and values in `rows`, and what
/// they keep, row r of `states` [n, H · size()] of all heads → output [n, D].
void performer_step(const AttentionShape& shape, const AttentionInput& rows, MatrixRef states,
                    MatrixRef output);

}  // namespace attn
