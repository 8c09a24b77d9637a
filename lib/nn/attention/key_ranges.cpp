#include "nn/attention/key_ranges.h"

#include <cmath>

#include "base/at.h"
#include "base/random.h"

namespace attn {
namespace {

/// Queries of a tile: keys are packed once for all of them. Fewer where each has its own window.
constexpr Index kSharedTile = 1056;
constexpr Index kBandTile = 264;

/// One head's tiles while they are made.
class TileMaker {
 public:
  TileMaker(const AttentionPattern& pattern, Index layer, Index head, const PatternRows& rows)
      : pattern_(pattern), layer_(layer), head_(head), rows_(rows) {
    const auto end = std::lower_bound(rows.globals.begin(), rows.globals.end(), rows.keys);
    globals_ = rows.globals.first(to_size(end - rows.globals.begin()));
  }

  std::vector<QueryTile> make() {
    if (leaves_none_out(pattern_, rows_.keys)) {
      full();
      return std::move(tiles_);
    }
    switch (pattern_.type) {
      case PatternType::full:
      case PatternType::linformer:
      case PatternType::performer:
      case PatternType::lsh:
        break;
      case PatternType::window:
      case PatternType::longformer:
        windows();
        break;
      case PatternType::bigbird:
        bigbird();
        break;
      case PatternType::sparse_strided:
        strided();
        break;
      case PatternType::sparse_fixed:
        fixed();
        break;
      case PatternType::chunks:
        chunks();
        break;
    }
    return std::move(tiles_);
  }

 private:
  Index first_query() const { return rows_.keys - rows_.queries; }
  Index ahead(Index most) const { return rows_.causal ? 0 : most; }

  QueryTile& add(Index first, Index end) {
    tiles_.push_back({first, end - first});
    return tiles_.back();
  }

  KeyRange all_keys(Sight sight) const {
    KeyRange range;
    range.end = rows_.keys;
    range.sight = sight;
    return range;
  }

  KeyRange global_keys() const {
    KeyRange range;
    range.list.keys = globals_.data();
    range.end = std::ssize(globals_);
    range.sight = Sight::global;
    return range;
  }

  /// |i − j| ≤ reach for the rows of a tile.
  KeyRange window(const QueryTile& tile, Index reach) const {
    KeyRange range;
    range.own = tile.first;
    range.back = reach;
    range.ahead = ahead(reach);
    range.first = std::max<Index>(0, tile.first - reach);
    range.end = std::min(rows_.keys, tile.first + tile.count + range.ahead);
    range.sight = Sight::window;
    return range;
  }

  bool is_global(Index i) const { return std::binary_search(globals_.begin(), globals_.end(), i); }

  /// Where a tile from i on ends that holds global rows alone, or none.
  Index same_kind_until(Index i, Index end) const {
    const bool global = is_global(i);
    const auto next = std::upper_bound(globals_.begin(), globals_.end(), i);
    if (!global) return next == globals_.end() ? end : std::min(end, *next);
    Index last = i + 1;
    while (last < end && is_global(last)) ++last;
    return last;
  }

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
      QueryTile& tile = add(i, end);
      if (is_global(i)) {
        tile.is_global = true;
        tile.ranges.push_back(all_keys(Sight::global));
      } else {
        ranges(tile);
      }
      i = end;
    }
  }

  void full() {
    for (Index i = first_query(); i < rows_.keys; i += kSharedTile) {
      const Index end = std::min(i + kSharedTile, rows_.keys);
      KeyRange range = all_keys(Sight::full);
      if (rows_.causal) {
        range.own = i;
        range.ahead = 0;
        range.end = end;
      }
      add(i, end).ranges.push_back(range);
    }
  }

  void windows() {
    if (pattern_.type == PatternType::window) globals_ = {};
    const Index reach = pattern_.window(layer_) / 2;
    for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      if (!globals_.empty()) tile.ranges.push_back(global_keys());
      tile.ranges.push_back(window(tile, reach));
      tile.ranges.back().skip_globals = !globals_.empty();
    });
  }

  void chunks() {
    const Index size = pattern_.block_size;
    const Index shift = pattern_.shift && layer_ % 2 == 1 ? size / 2 : 0;
    // Blocks begin half a block early: the first one's keys are cut, not moved.
    const Index origin = rows_.origin;
    for_each_tile(kSharedTile, size, origin - shift, [&](QueryTile& tile) {
      const Index block = (tile.first - origin + shift) / size;
      if (!globals_.empty()) tile.ranges.push_back(global_keys());
      KeyRange range = all_keys(Sight::block);
      range.first = std::max(origin, origin - shift + block * size);
      range.end = std::min(rows_.keys, origin - shift + (block + 1) * size);
      range.skip_globals = !globals_.empty();
      tile.ranges.push_back(range);
    });
  }

  /// The blocks that every block's rows see, apart from the random ones: [b − 1, b + 1], first,
  /// last.
  void bigbird() {
    globals_ = {};
    const Index size = pattern_.block_size;
    const Index blocks = (rows_.keys + size - 1) / size;
    for_each_tile(kSharedTile, size, 0, [&](QueryTile& tile) {
      const Index own = tile.first / size;
      if (own == 0 || own == blocks - 1) {
        tile.ranges.push_back(all_keys(Sight::global));
        return;
      }
      const auto see = [&](Index first, Index end, Sight sight) {
        KeyRange range = all_keys(sight);
        range.first = first * size;
        range.end = std::min(rows_.keys, end * size);
        tile.ranges.push_back(range);
      };
      see(0, 1, Sight::global);
      if (!pattern_.random_is_seeded) {
        tile.ranges.back().bias = std::log(1.0F + static_cast<float>(pattern_.random_blocks));
      }
      see(std::max<Index>(1, own - 1), std::min(blocks - 1, own + 2), Sight::window);
      for (const Index block : random_blocks(own, blocks)) see(block, block + 1, Sight::random);
      see(blocks - 1, blocks, Sight::global);
    });
  }

  /// Blocks drawn for the queries of block `own`: other ones than they see anyway, rising.
  std::vector<Index> random_blocks(Index own, Index blocks) const {
    if (!pattern_.random_is_seeded) return {};
    std::vector<Index> others;
    for (Index block = 1; block + 1 < blocks; ++block) {
      if (block < own - 1 || block > own + 1) others.push_back(block);
    }
    const auto place = same_number<std::uint64_t>((layer_ * 65536 + head_) * 1048576 + own);
    RandomNumbers random(pattern_.seed, "bigbird", place);
    const Index count = std::min<Index>(pattern_.random_blocks, std::ssize(others));
    for (Index k = 0; k < count; ++k) {
      const auto left = to_size(std::ssize(others) - k);
      std::swap(at(others, k), at(others, to_size(k) + random.below(left)));
    }
    others.resize(to_size(count));
    std::sort(others.begin(), others.end());
    return others;
  }

  void strided() {
    globals_ = {};
    const Index stride = pattern_.stride;
    // With two strides of keys all that are a stride away are in the window.
    const bool far = rows_.keys > 2 * stride;
    for_each_tile(kBandTile, 0, 0, [&](QueryTile& tile) {
      tile.ends = !far;
      tile.ranges.push_back(window(tile, stride));
    });
    if (!far) return;
    for (Index residue = 0; residue < stride; ++residue) {
      const Index from = first_query() - residue;
      const Index first = from <= 0 ? 0 : (from + stride - 1) / stride;
      const Index count = (rows_.keys - residue + stride - 1) / stride;
      for (Index n = first; n < count; n += kSharedTile) {
        residue_tile(residue, n, std::min(n + kSharedTile, count), count);
      }
    }
  }

  /// The queries `residue` + n · stride for n in [first, end), and the keys of the same residue.
  void residue_tile(Index residue, Index first, Index end, Index count) {
    const Index stride = pattern_.stride;
    QueryTile tile;
    tile.first = residue + first * stride;
    tile.count = end - first;
    tile.step = stride;
    tile.begins = false;
    KeyRange range;
    range.list = {residue, 1, stride};
    range.own = first;
    range.ahead = ahead(KeyRange::kFar);
    range.end = rows_.causal ? end : count;
    range.hole = 1;
    range.sight = Sight::stride;
    tile.ranges.push_back(range);
    tiles_.push_back(std::move(tile));
  }

  void fixed() {
    globals_ = {};
    const Index size = pattern_.stride;
    const Index summary = pattern_.summary;
    for_each_tile(kSharedTile, size, 0, [&](QueryTile& tile) {
      const Index own = tile.first / size;
      KeyRange block = all_keys(Sight::block);
      block.first = own * size;
      block.end = std::min(rows_.keys, (own + 1) * size);
      block.own = tile.first;
      block.ahead = ahead(KeyRange::kFar);
      KeyRange before;
      before.list = {size - summary, summary, size};
      before.end = own * summary;
      before.sight = Sight::stride;
      KeyRange after = before;
      after.first = (own + 1) * summary;
      after.end =
          rows_.keys / size * summary + std::max<Index>(0, rows_.keys % size - (size - summary));
      tile.ranges.push_back(before);
      tile.ranges.push_back(block);
      if (!rows_.causal) tile.ranges.push_back(after);
    });
  }

  const AttentionPattern& pattern_;
  Index layer_;
  Index head_;
  const PatternRows& rows_;
  std::span<const Index> globals_;
  std::vector<QueryTile> tiles_;
};

}  // namespace

bool leaves_none_out(const AttentionPattern& pattern, Index keys) {
  if (pattern.full() || is_approximation(pattern.type)) return true;
  return pattern.type == PatternType::bigbird &&
         keys <= (5 + 2 * Index{pattern.random_blocks}) * pattern.block_size;
}

std::vector<QueryTile> query_tiles(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows) {
  return TileMaker(pattern, layer, head, rows).make();
}

}  // namespace attn
