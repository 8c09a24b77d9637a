// One head's tiles while a kind of attention makes them.
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "base/at.h"
#include "nn/attention/key_ranges.h"

namespace attn {

/// Queries of a tile: keys are packed once for all of them. Fewer where each has its own window.
inline constexpr Index kSharedTile = 1056;
inline constexpr Index kBandTile = 264;

class QueryTileBuilder {
 public:
  QueryTileBuilder(const AttentionPattern& pattern, Index layer, Index head, const PatternRows& rows);

  const AttentionPattern& pattern() const { return pattern_; }
  Index layer() const { return layer_; }
  Index head() const { return head_; }
  const PatternRows& rows() const { return rows_; }
  Index first_query() const { return rows_.keys - rows_.queries; }
  /// Keys behind a query that it may see, of `most` that the kind would show.
  Index ahead(Index most) const { return rows_.causal ? 0 : most; }
  /// Places of global tokens among the keys.
  std::span<const Index> globals() const { return globals_; }
  /// For a kind that has none.
  void forget_globals() { globals_ = {}; }

  KeyRange all_keys(PatternReason reason) const;
  KeyRange global_keys() const;
  /// |i − j| ≤ reach for the rows of a tile.
  KeyRange window(const QueryTile& tile, Index reach) const;

  /// Every query sees every key, or every earlier one.
  void add_full();
  /// Global keys, where there are any, and others that `range` holds.
  void add_beside_globals(QueryTile& tile, KeyRange range) const;
  void add(QueryTile tile) { tiles_.push_back(std::move(tile)); }

  /// Tiles of at most `size` rows that cross no border of blocks of `block` from `origin` on (0: no
  /// blocks); `ranges` fills one that is not of global rows.
  template <typename Ranges>
  void for_each_tile(Index size, Index block, Index origin, Ranges&& ranges) {
    for (Index i = first_query(); i < rows_.keys;) {
      Index end = std::min(i + size, rows_.keys);
      if (block > 0 && i >= origin) {
        end = std::min(end, i + block - (i - origin) % block);
      } else if (block > 0) {
        end = std::min(end, origin);
      }
      end = same_kind_until(i, end);
      QueryTile& tile = tiles_.emplace_back(QueryTile{i, end - i});
      if (is_global(i)) {
        tile.is_global = true;
        tile.ranges.push_back(all_keys(PatternReason::global));
      } else {
        ranges(tile);
      }
      i = end;
    }
  }

  std::vector<QueryTile> take() { return std::move(tiles_); }

 private:
  bool is_global(Index i) const { return std::binary_search(globals_.begin(), globals_.end(), i); }
  /// Where a tile from i on ends that holds global rows alone, or none.
  Index same_kind_until(Index i, Index end) const;

  const AttentionPattern& pattern_;
  Index layer_;
  Index head_;
  const PatternRows& rows_;
  std::span<const Index> globals_;
  std::vector<QueryTile> tiles_;
};

}  // namespace attn
