// The keys that each query sees, as lists of key ranges. Matrix multiplications, maps and masks all
// follow from this one description.
//
// In a sentence of n tokens, i is the query's position and j the key's. Every pattern that a
// decoder may use can be causal (j ≤ i).
//
//   full            every j
//   window          |i − j| ≤ window/2                                     (Beltagy et al. 2020)
//   longformer      the same; global tokens see all keys and are seen by all queries    (ibid.)
//   bigbird         blocks of block_size: the first and last block see all and are seen by all; the
//                   others see their neighbors, themselves and random blocks (Zaheer et al. 2020).
//                   Sentences of at most (5 + 2·random_blocks) blocks have full attention, as in
//                   transformers.
//   sparse_strided  |i − j| ≤ stride, and j ≡ i modulo stride               (Child et al. 2019)
//   sparse_fixed    blocks of stride: the query's block, and the last `summary` keys of every block
//   chunks          blocks of block_size: the query's block, and global tokens as in longformer.
//                   With `shift`, odd layers move by half a block (Phang et al. 2022)
#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/at.h"
#include "config/patterns/attention_pattern.h"
#include "config/patterns/pattern_cells.h"

namespace attn {

/// Keys that the rows of a tile see, as positions in a list. Row r is at position own + r. It sees
/// the positions from own + r − back to own + r + ahead that are in [first, end), except those at
/// a distance of at most `hole`.
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
    /// True if number n is key n.
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

  /// The numbers that row r sees, including the hole.
  Index first_of(Index r) const { return std::max(first, own + r - back); }
  Index end_of(Index r) const { return std::min(end, own + r + ahead + 1); }
};

/// Queries that share their ranges: positions first + r · step for r in [0, count).
struct QueryTile {
  Index first = 0;
  Index count = 0;
  Index step = 1;
  bool begins = true;      ///< no earlier tile contains these rows
  bool ends = true;        ///< no later tile contains them
  bool is_global = false;  ///< rows of global tokens
  std::vector<KeyRange> ranges = {};
};

/// The queries and keys of one sentence. Positions count from its first key. The queries are the
/// last positions, so a cached step is the last row of the sentence.
struct PatternRows {
  Index queries = 0;
  Index keys = 0;
  bool causal = false;
  std::span<const Index> globals = {};  ///< ascending positions; those beyond the keys are ignored
  Index origin = 0;                     ///< chunks: global rows before the first block (Pegasus-X)
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

// Building the tiles of one head.

/// Queries per tile. Keys are packed once per tile. Tiles are smaller if each query has its own
/// window.
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
  /// Returns how many later keys a query may see, of the `most` that the pattern has.
  Index ahead(Index most) const { return rows_.causal ? 0 : most; }
  /// Returns the positions of global tokens among the keys.
  std::span<const Index> globals() const { return globals_; }
  /// Used for a pattern without global tokens.
  void forget_globals() { globals_ = {}; }

  KeyRange all_keys(PatternReason reason) const;
  KeyRange global_keys() const;
  /// Returns the range |i − j| ≤ reach for the rows of a tile.
  KeyRange window(const QueryTile& tile, Index reach) const;

  /// Adds full attention: every query sees every key, or every earlier one.
  void add_full();
  /// Adds the global keys, if there are any, and the other keys of `range`.
  void add_beside_globals(QueryTile& tile, KeyRange range) const;
  void add(QueryTile tile) { tiles_.push_back(std::move(tile)); }

  /// Makes tiles of at most `size` rows that do not cross a border between blocks of `block` rows,
  /// counted from `origin` (0: no blocks). `ranges` adds the ranges of each tile without global
  /// rows.
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
  /// Returns the end of a tile that begins at i and has either only global rows or none.
  Index same_kind_until(Index i, Index end) const;

  const AttentionPattern& pattern_;
  Index layer_;
  Index head_;
  const PatternRows& rows_;
  std::span<const Index> globals_;
  std::vector<QueryTile> tiles_;
};

}  // namespace attn
