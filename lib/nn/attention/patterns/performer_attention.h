// Performer: attention through random features. softmax's exp(q · k · scale) is the mean of
// products φ(q)_f φ(k)_f, so the sums over keys are computed once for all queries.
//
//   o_i = φ(q_i)ᵀ (Σ_j φ(k_j) v_jᵀ) / φ(q_i)ᵀ (Σ_j φ(k_j))
//
// (Choromanski et al. 2021, FAVOR+: positive features, orthogonal within blocks of K.) Time and
// memory grow with N · m. Causal attention keeps the sums over the keys so far (PerformerState), so
// row i equals what the first i + 1 keys alone give, and a cached step needs only the sums.
// performer_features.cpp computes features and sums; performer_backward.cpp and
// performer_causal_backward.cpp are the backward passes.
#pragma once

#include <cmath>
#include <vector>

#include "nn/attention/attention.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/attention/tiled_attention.h"

namespace attn {

/// Runs attend() for the type performer. Throws std::logic_error if the input has no features.
void attend_performer(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer);

/// Runs attend_backward() for attend_performer(), whose output is `output`. The stabilizers count
/// as constants, as in performer-pytorch.
void attend_performer_backward(const AttentionShape& shape, const AttentionInput& input,
                               const ConstMatrixRef& output, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient);

struct CausalTileMask;

/// The state of a causal head: sums over the keys so far, to which new keys are added.
class PerformerState {
 public:
  /// Returns the number of floats that a head needs.
  static Index size(Index features, Index head_dim);
  /// Uses `memory` [size()]. Call begin() before the first key.
  PerformerState(float* memory, Index features, Index head_dim)
      : memory_(memory), m_(features), width_(head_dim) {}

  void begin();
  float& maximum() const { return memory_[0]; }  ///< the largest w_f · s k so far
  /// Converts the sums to another maximum.
  void rescale(float to) const;
  /// Adds a key's exponentials [m] under the maximum, and its value [K].
  void add(const float* exponentials, const float* value) const;
  /// Adds a tile's n keys: exponentials [n, m] under the maxima of `tile_mask`, which are changed,
  /// and values [n, K].
  void add(const CausalTileMask& tile_mask, Index n, float* exponentials,
           const float* tile_values) const;
  /// Reads the sums with features u [n, m], without ε → out [n, K] and divisors [n].
  void read(const float* u, Index n, float* out, float* divisors) const;
  /// Reads the sums with the features u [m] of one query → out [K]. Returns the divisor.
  float read(const float* u, float* out) const;

  Index width() const { return width_; }
  float* sums() const { return memory_ + 1; }             ///< [m, K] Σ exponential · value
  float* totals() const { return sums() + m_ * width_; }  ///< [m] Σ exponential
  float* values() const { return totals() + m_; }         ///< [K] Σ value
  float& keys() const { return values()[width_]; }        ///< number of keys
 private:
  float* memory_;
  Index m_;
  Index width_;
};

/// Runs one more row for each of several sentences: `rows` has their queries, keys and values, and
/// row r of `states` [n, H · size()] has the state of all heads → output [n, D].
void performer_step(const AttentionShape& shape, const AttentionInput& rows, MatrixRef states,
                    MatrixRef output);

// Random features of queries and keys, a tile of rows at a time: what Performer (performer.h) puts
// in the place of scores.
//
//   φ(x)_f = exp(w_f · s x − ‖s x‖² / 2 − c) + ε        with s = √scale and m rows w_f
//
// c keeps the exponentials small: the largest w_f · s x of the row for a query, and of all keys so
// far for a key. It cancels but for ε, which keeps sums from 0 (both as performer-pytorch has
// them).

inline constexpr float kFeatureEpsilon = 1e-4F;

/// A layer's feature matrix, packed for matrix multiplication.
class FeatureMap {
 public:
  /// `features` is [m, K].
  FeatureMap(const Parameter& features, float scale);

  Index count() const { return count_; }  ///< m
  Index width() const { return width_; }  ///< K
  float scale() const { return scale_; }
  /// Returns panels of [K + 1, m]: s · w as columns, and −1 below each, for half the squared
  /// length.
  const float* columns() const { return columns_.data(); }
  /// Returns panels of [m, K]: the rows s · w.
  const float* rows() const { return rows_.data(); }

 private:
  Index count_;
  Index width_;
  float scale_;
  AlignedFloats columns_;
  AlignedFloats rows_;
};

/// Rows per tile.
inline constexpr Index kFeatureRows = 128;

/// A tile of rows that are converted to features.
class FeatureTile {
 public:
  /// Computes the exponents of n ≤ kFeatureRows rows, without c, and each row's largest w_f · s x.
  void load(const FeatureMap& map, const GatheredRows& from, Index n);
  /// Converts exponents to exponentials. The c of row r is maximum[r], which is at least
  /// largest()[r].
  void exponentiate(const float* maximum);
  /// Does the same with one c for all rows.
  void exponentiate(float maximum);
  /// Adds ε to the exponentials.
  void add_epsilon();
  Index rows() const { return rows_; }
  Index count() const { return count_; }
  Index width() const { return width_; }              ///< K
  float* features() { return features_.reserve(0); }  ///< [n, m]
  float* features(Index r) { return features() + r * count_; }
  const float* largest() { return largest_.reserve(0); }  ///< [n]
  /// Converts the gradient of the exponents [n, m] to that of the rows → dx, rows `stride` apart.
  void exponents_backward(const FeatureMap& map, const float* dexponents, float* dx, Index stride);

 private:
  Index rows_ = 0;
  Index count_ = 0;
  Index width_ = 0;
  TileMemory input_;     ///< [n, K + 1]
  TileMemory features_;  ///< [n, m]
  TileMemory largest_;   ///< [n]
  TileMemory maximum_;   ///< [2, n]
  TileMemory back_;      ///< [n, K]
};

/// The keys of a group that are not padding, in order.
class UnpaddedKeys {
 public:
  explicit UnpaddedKeys(const AttentionGroup& group);
  Index count() const { return count_; }
  /// Returns the position in the sentence of key number n.
  Index position(Index n) const { return all_ ? n : Index{places_[to_size(n)]}; }
  /// Returns the rows from number `first` on.
  GatheredRows from(const GatheredRows& rows, Index first) const;

 private:
  Index count_;
  bool all_;
  bool in_order_;
  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> rows_;
};

// The sums over one head's keys, shared by performer's forward and backward passes.

/// Copies rows of a matrix to a tile's own memory.
struct TileRows {
  TileMemory memory;

  /// Copies n rows of `width` numbers, with `extra` more columns for the caller to fill in.
  float* copy(const GatheredRows& from, Index n, Index width, Index extra = 0) {
    const Index stride = width + extra;
    float* to = memory.reserve(kFeatureRows * stride);
    for (Index r = 0; r < n; ++r) {
      const float* row = from.base + (from.rows != nullptr ? Index{from.rows[r]} : r) * from.stride;
      std::copy_n(row, width, to + r * stride);
    }
    return to;
  }
};

/// The sums over all keys of a head, including ε: row f is Σ_j φ(k_j)_f · [v_j, 1].
struct KeySums {
  Matrix sums;         ///< [m, K + 1]
  float maximum = 0;   ///< the keys' largest w_f · s x
  AlignedFloats rows;  ///< panels of [m, K], without the last column
  RowVector totals;    ///< [m] the last column

  void add_up(const FeatureMap& map, const HeadRows& head, const UnpaddedKeys& keys);
  /// Loads a tile of queries and computes their features → out [n, K] and divisors [n].
  void read(FeatureTile& queries, float* out, float* divisors) const;
};

/// Rows per tile of a causal head. With more, the work per key inside a tile grows; with fewer,
/// the work per tile.
inline constexpr Index kCausalRows = 64;

/// Positions [first, end) of a causal head's sentence, with the keys and queries there.
struct CausalTile {
  Index first = 0;
  Index end = 0;
  Index first_key = 0;  ///< indices among the unpadded keys
  Index end_key = 0;
  Index first_query = 0;  ///< rows of the group
  Index end_query = 0;

  Index keys() const { return end_key - first_key; }
  Index queries() const { return end_query - first_query; }
};

/// Returns tiles of all positions, in order.
std::vector<CausalTile> causal_tiles(const AttentionGroup& group, const UnpaddedKeys& keys);

/// Returns the factor that converts exponentials under an earlier maximum to those under a later
/// one. Both may be −∞.
inline float rescale_factor(float earlier, float later) {
  return earlier == later ? 1.0F : std::exp(earlier - later);
}

/// The keys of a tile that its queries see, and the maxima that apply: query i sees the first
/// seen[i]. Key j's exponentials are those under the largest w_f · s x of the keys up to it, and a
/// query reads them under the largest of the keys that it sees.
struct CausalTileMask {
  float before = 0;            ///< the largest of the keys before the tile
  float after = 0;             ///< the largest of the keys up to the tile's end
  const float* maxima;         ///< [keys] the largest of the keys up to each
  std::vector<Index> seen;     ///< [queries]
  std::vector<float> maximum;  ///< [queries]

  CausalTileMask(const CausalTile& tile, const AttentionGroup& group, const UnpaddedKeys& keys,
                 float before, const float* maxima);
  /// Returns the factor that converts the sums before the tile to query i's maximum.
  float of_earlier(Index i) const;
  /// Converts row i of the products of queries and keys [queries, keys]: under i's maximum, and 0
  /// for keys that i does not see.
  void take(Index i, Index keys, float* row) const;
};

/// Computes the features of a tile's keys. maxima[n] becomes the largest w_f · s x of the keys up
/// to number n; `before` is the largest of those before the tile.
void make_causal_features(FeatureTile& keys, float before, float* maxima);

/// The operands of a multiplication: rows [n, in], and panels [in, out] of the other factor.
struct FactorRows {
  const float* first;
  Index n;
  Index in;
};
struct FactorPanels {
  const float* first;
  Index out;
};

/// Computes y [n, out] = x · factor, or adds x · factor to y.
void multiply(const FactorRows& x, const FactorPanels& factor, float* y, bool add = false);

/// Packs rows [n, width] as panels of a right-hand factor, unchanged or transposed.
struct PackedRows {
  TileMemory memory;

  const float* as_rows(const float* rows, Index n, Index width);     ///< of [n, width]
  const float* as_columns(const float* rows, Index n, Index width);  ///< of [width, n]
};

// Shared by both backward passes of performer: with the same sums for every query
// (performer_backward.cpp, with the formulas), and with the sums of the keys so far
// (performer_causal_backward.cpp).

/// One head of one group: its input, the gradient of its output, and the destination of its own
/// gradients.
struct PerformerHeadBackward {
  const FeatureMap& map;
  const AttentionGroup& group;
  const HeadRows& rows;  ///< its output is that of the forward pass, which is only read
  const float* doutput;  ///< of the group's first query
  Index doutput_stride;
  float* dqueries;
  Index dqueries_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;

  float* dkey(const UnpaddedKeys& keys, Index n) const {
    return dkeys + keys.position(n) * dmemory_stride;
  }
  float* dvalue(const UnpaddedKeys& keys, Index n) const {
    return dvalues + keys.position(n) * dmemory_stride;
  }
};

struct PerformerBackwardScratch {
  FeatureTile keys, queries;
  TileRows values;
  TileMemory exponentials;  ///< [n, m] without ε
  TileMemory dfeatures;     ///< [n, m]
  TileMemory gradients;     ///< [n, K + 1]
  TileMemory out, divisors, panels, drows, state;
  TileMemory products;  ///< [queries, keys] of a causal tile
  PackedRows packed;
};

/// Loads a tile's queries and computes their features; `exponentials` gets them without ε.
void load_queries(const PerformerHeadBackward& head, Index first, Index n,
                  PerformerBackwardScratch& scratch);

/// Computes g of query i, whose divisor is known → g [K + 1].
void make_gradient(const PerformerHeadBackward& head, Index i, float divisor, float* g);

/// Converts dfeatures ⊙ exponentials, the gradients of the exponents, to the gradients of the
/// rows.
void features_backward(FeatureTile& tile, const FeatureMap& map, const float* exponentials,
                       float* dfeatures, float* drows);

/// Copies rows [n, K] to their positions among all queries, or among all unpadded keys.
void put_query_gradients(const PerformerHeadBackward& head, Index first, Index n,
                         const float* drows);
void put_key_gradients(const PerformerHeadBackward& head, const UnpaddedKeys& keys, Index first,
                       Index n, const float* drows);

/// Computes dqueries, dkeys and dvalues of a head whose queries see the keys up to their own.
void performer_causal_backward(const PerformerHeadBackward& head, const UnpaddedKeys& keys);

}  // namespace attn
