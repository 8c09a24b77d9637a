// Who looks at whom, as lists of key ranges: one description from which the products, the maps and
// the masks all follow.
//
// A sentence of n tokens, i the query's place and j the key's. Every type can be causal (j ≤ i)
// where a decoder may have it.
//
//   full            every j
//   window          |i − j| ≤ window/2                                     (Beltagy et al. 2020)
//   longformer      the same, and global tokens see all and are seen by all             (ibid.)
//   bigbird         blocks of block_size: the first and the last see all and are seen by all; a
//                   block sees its neighbours, itself and random others (Zaheer et al. 2020).
//                   Sentences of at most (5 + 2·random_blocks) blocks have full attention, as in
//                   transformers.
//   sparse_strided  |i − j| ≤ stride, and j ≡ i modulo stride               (Child et al. 2019)
//   sparse_fixed    blocks of stride: the own block, and the last `summary` keys of every block
//   chunks          blocks of block_size: the own block, and global tokens, as longformer's; odd
//                   layers move by half a block where shift is set (Phang et al. 2022)
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/at.h"
#include "config/pattern_cells.h"
#include "config/patterns/attention_pattern.h"

namespace attn {

/// Keys that the rows of a tile look at. Row r, which stands at number own + r of the list itself,
/// sees the numbers of [first, end) from own + r − back to own + r + ahead, without those that are
/// at most `hole` from it.
struct KeyRange {
  static constexpr Index kFar = std::numeric_limits<Index>::max() / 4;

  /// Keys in the order in which a range counts them: number n is the key
  /// base + (n / run) · step + n mod run, or keys[n].
  struct List {
    Index base = 0;
    Index run = 1;
    Index step = 1;
    const Index* keys = nullptr;

    Index operator[](Index n) const {
      return keys != nullptr ? keys[n] : base + n / run * step + n % run;
    }
    /// Whether number n is key n.
    bool every_key() const { return keys == nullptr && run == 1 && step == 1 && base == 0; }
  };

  List list = {};
  Index first = 0;
  Index end = 0;
  Index own = 0;
  Index back = kFar;
  Index ahead = kFar;
  Index hole = -1;
  float bias = 0.0F;          ///< added to every score
  bool skip_globals = false;  ///< global keys are in another range
  PatternReason reason = PatternReason::full;

  /// The numbers that row r sees, before the hole.
  Index first_of(Index r) const { return std::max(first, own + r - back); }
  Index end_of(Index r) const { return std::min(end, own + r + ahead + 1); }
};

/// Queries that share their ranges: places first + r · step for r in [0, count).
struct QueryTile {
  Index first = 0;
  Index count = 0;
  Index step = 1;
  bool begins = true;      ///< no earlier tile has these rows
  bool ends = true;        ///< no later tile has them
  bool is_global = false;  ///< rows of global tokens
  std::vector<KeyRange> ranges = {};
};

/// The queries and keys of one sentence. Places count from its first key; the queries are the last
/// ones, so that a cached step is the last row of the whole sentence.
struct PatternRows {
  Index queries = 0;
  Index keys = 0;
  bool causal = false;
  std::span<const Index> globals = {};  ///< places, rising; those beyond the keys do not count
  Index origin = 0;  ///< chunks: rows before the first block, which are global (Pegasus-X's own)
};

/// Calls f(key, range) for every key that row r of a tile sees, in the order of its sums.
template <typename F>
void for_each_key(const QueryTile& tile, Index r, std::span<const Index> globals, F&& f) {
  for (const KeyRange& range : tile.ranges) {
    const Index own = range.own + r;
    for (Index n = range.first_of(r); n < range.end_of(r); ++n) {
      if (n >= own - range.hole && n <= own + range.hole) continue;
      const Index key = range.list[n];
      if (range.skip_globals && std::binary_search(globals.begin(), globals.end(), key)) continue;
      f(key, range);
    }
  }
}

// One head's tiles while a kind of attention makes them.

/// Queries of a tile: keys are packed once for all of them. Fewer where each has its own window.
inline constexpr Index kSharedTile = 1056;
inline constexpr Index kBandTile = 264;

class QueryTileBuilder {
 public:
  QueryTileBuilder(const AttentionPattern& pattern, Index layer, Index head,
                   const PatternRows& rows);

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
