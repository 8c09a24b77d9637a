// The sums of one head's keys, as performer's forward and backward passes share them.
#pragma once

#include "nn/attention/performer.h"
#include "nn/attention/performer_features.h"

namespace attn {

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

  void add_up(const FeatureMap& map, const HeadRows& head, const ShownKeys& keys);
  /// A tile of queries, loaded and made features → out [n, K] and divisors [n].
  void read(FeatureTile& queries, float* out, float* divisors) const;
};

/// Places [first, end) of a causal head's sentence, and which keys and queries stand there.
struct CausalTile {
  Index first = 0;
  Index end = 0;
  Index first_key = 0;  ///< numbers among the shown keys
  Index end_key = 0;
  Index first_query = 0;  ///< rows of the group
  Index end_query = 0;
};

/// All places, in their order.
std::vector<CausalTile> causal_tiles(const AttentionGroup& group, const ShownKeys& keys);

/// Calls f(key, query) for the places of a tile from first to last: numbers in the tile, −1 where
/// there is none.
template <typename F>
void for_each_place(const CausalTile& tile, const AttentionGroup& group, const ShownKeys& keys,
                    F&& f) {
  Index key = tile.first_key;
  const Index first_query = group.keys - group.queries;
  for (Index place = tile.first; place < tile.end; ++place) {
    const bool shown = key < tile.end_key && keys.place(key) == place;
    const Index query = place - first_query;
    f(shown ? key - tile.first_key : -1, query < 0 ? -1 : query - tile.first_query);
    if (shown) ++key;
  }
}

/// maxima[n] becomes the largest w_f · s x of the keys up to number n, `before` that of those
/// before the tile; the features have them.
void make_causal_features(FeatureTile& keys, float before, float* maxima);

/// y [m, K] += x [m] ⊗ v [K].
void add_outer_product(const float* x, Index m, const float* v, Index width, float* y);

}  // namespace attn
