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

/// attend() of the type performer. std::logic_error where the input has no features.
void attend_performer(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer);

/// attend_backward() of attend_performer(), whose output `output` is. The stabilisers count as
/// constants, as in performer-pytorch.
void attend_performer_backward(const AttentionShape& shape, const AttentionInput& input,
                               const ConstMatrixRef& output, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient);

struct CausalTileMask;

/// The state of a causal head: sums over the keys so far, to which new keys are added.
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
  /// Reads the sums with features u [n, m], without ε → out [n, K] and divisors [n].
  void read(const float* u, Index n, float* out, float* divisors) const;
  /// Reads the sums with the features u [m] of one query → out [K]. Returns the divisor.
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

// Random features of queries and keys, a tile of rows at a time: what Performer (performer.h) puts
// in the place of scores.
//
//   φ(x)_f = exp(w_f · s x − ‖s x‖² / 2 − c) + ε        with s = √scale and m rows w_f
//
// c keeps the exponentials small: the largest w_f · s x of the row for a query, and of all keys so
// far for a key. It cancels but for ε, which keeps sums from 0 (both as performer-pytorch has
// them).

inline constexpr float kFeatureEpsilon = 1e-4F;

/// The matrix of a layer, packed for products.
class FeatureMap {
 public:
  /// `features` [m, K].
  FeatureMap(const Parameter& features, float scale);

  Index count() const { return count_; }  ///< m
  Index width() const { return width_; }  ///< K
  float scale() const { return scale_; }
  /// Panels of [K + 1, m]: s · w as columns, and −1 under each, for half the squared length.
  const float* columns() const { return columns_.data(); }
  /// Panels of [m, K]: the rows s · w.
  const float* rows() const { return rows_.data(); }

 private:
  Index count_;
  Index width_;
  float scale_;
  AlignedFloats columns_;
  AlignedFloats rows_;
};

/// Rows in a tile.
inline constexpr Index kFeatureRows = 128;

/// Some rows on their way to features.
class FeatureTile {
 public:
  /// Exponents of n ≤ kFeatureRows rows, without c, and each row's largest w_f · s x.
  void load(const FeatureMap& map, const GatheredRows& from, Index n);
  /// Exponents become exponentials: c of row r is maximum[r], at least largest()[r].
  void exponentiate(const float* maximum);
  /// The same with one c.
  void exponentiate(float maximum);
  /// ε joins the exponentials.
  void add_epsilon();
  Index rows() const { return rows_; }
  Index count() const { return count_; }
  Index width() const { return width_; }              ///< K
  float* features() { return features_.reserve(0); }  ///< [n, m]
  float* features(Index r) { return features() + r * count_; }
  const float* largest() { return largest_.reserve(0); }  ///< [n]
  /// From the gradient at the exponents [n, m], the one at the rows → dx, rows `stride` apart.
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

/// The keys of a group that are no padding, in their order.
class UnpaddedKeys {
 public:
  explicit UnpaddedKeys(const AttentionGroup& group);
  Index count() const { return count_; }
  /// Number n's place in the sentence.
  Index position(Index n) const { return all_ ? n : Index{places_[to_size(n)]}; }
  /// The rows from number `first` on.
  GatheredRows from(const GatheredRows& rows, Index first) const;

 private:
  Index count_;
  bool all_;
  bool in_order_;
  std::vector<std::int32_t> places_;
  std::vector<std::int32_t> rows_;
};

// The sums of one head's keys, as performer's forward and backward passes share them.

/// Rows of one matrix as a tile's own memory.
struct TileRows {
  TileMemory memory;

  /// n rows of `width` numbers, with `extra` more columns that the caller fills in.
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

/// The sums over all keys of a head, ε among them: row f is Σ_j φ(k_j)_f · [v_j, 1].
struct KeySums {
  Matrix sums;         ///< [m, K + 1]
  float maximum = 0;   ///< the keys' largest w_f · s x
  AlignedFloats rows;  ///< panels of [m, K]: without the last column
  RowVector totals;    ///< [m] the last column

  void add_up(const FeatureMap& map, const HeadRows& head, const UnpaddedKeys& keys);
  /// A tile of queries, loaded and made features → out [n, K] and divisors [n].
  void read(FeatureTile& queries, float* out, float* divisors) const;
};

/// Rows of a causal head's tile: what is done key by key inside of a tile grows with it, and what
/// is done once a tile falls.
inline constexpr Index kCausalRows = 64;

/// Positions [first, end) of a causal head's sentence, with the keys and queries there.
struct CausalTile {
  Index first = 0;
  Index end = 0;
  Index first_key = 0;  ///< numbers among the shown keys
  Index end_key = 0;
  Index first_query = 0;  ///< rows of the group
  Index end_query = 0;

  Index keys() const { return end_key - first_key; }
  Index queries() const { return end_query - first_query; }
};

/// All places, in their order.
std::vector<CausalTile> causal_tiles(const AttentionGroup& group, const UnpaddedKeys& keys);

/// Returns the factor that converts exponentials under an earlier maximum to those under a later
/// one. Both may be −∞.
inline float rescale_factor(float earlier, float later) {
  return earlier == later ? 1.0F : std::exp(earlier - later);
}

/// Which keys of a tile its queries see, and under which maxima: query i sees the first seen[i].
/// Key j's exponentials are those under the largest w_f · s x of the keys up to it, and a query
/// reads them under that of the keys that it sees.
struct CausalTileMask {
  float before = 0;            ///< the largest of the keys before the tile
  float after = 0;             ///< and of those up to its end
  const float* maxima;         ///< [keys] up to each
  std::vector<Index> seen;     ///< [queries]
  std::vector<float> maximum;  ///< [queries]

  CausalTileMask(const CausalTile& tile, const AttentionGroup& group, const UnpaddedKeys& keys,
                 float before, const float* maxima);
  /// Returns the factor that converts the sums before the tile to query i's maximum.
  float of_earlier(Index i) const;
  /// Row i of products of queries and keys [queries, keys]: under i's maximum, 0 where i sees none.
  void take(Index i, Index keys, float* row) const;
};

/// maxima[n] becomes the largest w_f · s x of the keys up to number n, `before` that of those
/// before the tile; the features have them.
void make_causal_features(FeatureTile& keys, float before, float* maxima);

/// Rows [n, in] that are multiplied, and panels [in, out] that they are multiplied by.
struct FactorRows {
  const float* first;
  Index n;
  Index in;
};
struct FactorPanels {
  const float* first;
  Index out;
};

/// y [n, out] = x · factor, or += that.
void multiply(const FactorRows& x, const FactorPanels& factor, float* y, bool add = false);

/// Rows [n, width] as the panels of a right side: as they are, or transposed.
struct PackedRows {
  TileMemory memory;

  const float* as_rows(const float* rows, Index n, Index width);     ///< of [n, width]
  const float* as_columns(const float* rows, Index n, Index width);  ///< of [width, n]
};

// Shared by both backward passes of performer: with the same sums for every query
// (performer_backward.cpp, with the formulas), and with the sums of the keys so far
// (performer_causal_backward.cpp).

/// One head of one group: what it reads, the gradient at its output, and where its own go.
struct PerformerHeadBackward {
  const FeatureMap& map;
  const AttentionGroup& group;
  const HeadRows& rows;  ///< its output is the forward pass's, which is read
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

/// A tile's queries and their features; `exponentials` without ε.
void load_queries(const PerformerHeadBackward& head, Index first, Index n,
                  PerformerBackwardScratch& scratch);

/// g of query i, whose divisor is known → g [K + 1].
void make_gradient(const PerformerHeadBackward& head, Index i, float divisor, float* g);

/// dfeatures ⊙ exponentials, which are the gradients at the exponents, go back to the rows.
void features_backward(FeatureTile& tile, const FeatureMap& map, const float* exponentials,
                       float* dfeatures, float* drows);

/// Rows [n, K] to their places among all queries', or all keys' that are no padding.
void put_query_gradients(const PerformerHeadBackward& head, Index first, Index n,
                         const float* drows);
void put_key_gradients(const PerformerHeadBackward& head, const UnpaddedKeys& keys, Index first,
                       Index n, const float* drows);

/// dqueries, dkeys and dvalues of a head whose queries see the keys up to their own.
void performer_causal_backward(const PerformerHeadBackward& head, const UnpaddedKeys& keys);

}  // namespace attn
