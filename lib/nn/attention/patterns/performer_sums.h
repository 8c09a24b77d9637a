// The sums of one head's keys, as performer's forward and backward passes share them.
#pragma once

#include <cmath>

#include "nn/attention/patterns/performer_attention.h"
#include "nn/attention/patterns/performer_features.h"

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

  void add_up(const FeatureMap& map, const HeadRows& head, const UnpaddedKeys& keys);
  /// A tile of queries, loaded and made features → out [n, K] and divisors [n].
  void read(FeatureTile& queries, float* out, float* divisors) const;
};

/// Rows of a causal head's tile: what is done key by key inside of a tile grows with it, and what
/// is done once a tile falls.
inline constexpr Index kCausalRows = 64;

/// Places [first, end) of a causal head's sentence, and which keys and queries stand there.
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

/// What makes exponentials under one maximum those under a later one; both may be −∞.
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
  /// What takes the sums before the tile to query i's maximum.
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

}  // namespace attn
