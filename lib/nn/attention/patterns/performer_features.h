// Random features of queries and keys, a tile of rows at a time: what Performer (performer.h) puts
// in the place of scores.
//
//   φ(x)_f = exp(w_f · s x − ‖s x‖² / 2 − c) + ε        with s = √scale and m rows w_f
//
// c keeps the exponentials small: the largest w_f · s x of the row for a query, and of all keys so
// far for a key. It cancels but for ε, which keeps sums from 0 (both as performer-pytorch has
// them).
#pragma once

#include <vector>

#include "nn/attention/attention_head.h"
#include "nn/attention/tile_blocks.h"

namespace attn {

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

}  // namespace attn
