// The blocks of keys that a tile of queries meets: what the forward and the backward pass over
// tiles share.
#pragma once

#include <cstdint>

#include "compute/parameter.h"
#include "nn/attention/tiled_attention.h"

namespace attn {

/// Memory that grows and is used again.
class TileMemory {
 public:
  float* reserve(Index count) {
    if (memory_.size() < to_size(count)) memory_ = AlignedFloats(to_size(count));
    return memory_.data();
  }

 private:
  AlignedFloats memory_;
};

/// y [rows, out] = x [rows, in] · panels [in, out]; the caller says `rows` and what else differs.
PanelMatmul panel_matmul_of(const float* x, Index in, const float* panels, Index out, float* y);

/// Over all panels, on this thread.
void run_panel_matmul(const PanelMatmul& product);

/// One head of one group, and what a tile of it reads.
struct TiledHead {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;

  Index first_query() const { return group.keys - group.queries; }
  /// Row r of a tile among the group's queries.
  Index query_of(const QueryTile& tile, Index r) const {
    return tile.first + r * tile.step - first_query();
  }
};

/// Numbers [first, end) of a range's list, and the rows of the tile that look at any of them.
struct KeyBlock {
  Index first = 0;
  Index end = 0;
  Index first_row = 0;
  Index end_row = 0;

  Index keys() const { return end - first; }
  Index rows() const { return end_row - first_row; }
};

/// scores [rows, kKeyTile] = the rows of a block, from `first_row` on, · its keys, in `panels`: the
/// same bits forward and backward.
void multiply_by_keys(const float* first_row, Index head_dim, const KeyBlock& block,
                      const float* panels, float* scores);

/// Which rows of keys and values, and which of them nobody sees, of one block.
struct KeyBlockRows {
  std::vector<std::int32_t> rows;    ///< of the keys, where they do not follow one another
  std::vector<std::int32_t> masked_columns;  ///< columns of padding, or of keys of other ranges

  /// Finds both. Returns the keys' rows as GatheredRows have them, and moves `base` to the first.
  void find(const TiledHead& head, const KeyRange& range, const KeyBlock& block);
  GatheredRows of(const GatheredRows& all) const;

 private:
  bool in_order_ = false;
  Index first_ = 0;
};

/// Numbers of a group of lanes: blocks begin at multiples of it, so that a number's lane is its
/// own.
inline constexpr Index kBlockLanes = 16;

/// Calls f(range, block) for the blocks of a tile, in the order of the sums.
template <typename F>
void for_each_block(const QueryTile& tile, F&& f) {
  for (const KeyRange& range : tile.ranges) {
    if (range.first >= range.end) continue;
    for (Index border = range.first / kKeyTile * kKeyTile; border < range.end; border += kKeyTile) {
      KeyBlock block;
      block.first = std::max(border, range.first / kBlockLanes * kBlockLanes);
      block.end = std::min(border + kKeyTile, range.end);
      const auto row = [&](Index r) { return std::clamp<Index>(r, 0, tile.count); };
      block.first_row = row(block.first - range.ahead - range.own);
      block.end_row = row(block.end + range.back - range.own);
      if (block.rows() > 0) f(range, block);
    }
  }
}

/// Rows whose scores are there at a time: a multiple of every table's block of rows.
inline constexpr Index kRowsAtOnce = 66;

/// Calls f(part) for the rows of a block, a few at a time, so that their scores stay near.
template <typename F>
void for_rows_of(const KeyBlock& block, F&& f) {
  KeyBlock part = block;
  for (; part.first_row < block.end_row; part.first_row = part.end_row) {
    part.end_row = std::min(part.first_row + kRowsAtOnce, block.end_row);
    f(part);
  }
}

/// scores [the block's rows, kKeyTile] become −∞ where a row of the block does not see a key.
void mask_block(const KeyRange& range, const KeyBlock& block,
                const std::vector<std::int32_t>& masked_columns, float* scores);

/// The dropout of a range: lists of keys have masks of their own, because their numbers are those
/// of other keys.
Dropout dropout_of(const Dropout& dropout, const KeyRange& range);

}  // namespace attn
