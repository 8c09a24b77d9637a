// Attention of long sentences and of sparse patterns, one tile of keys at a time. Memory holds one
// tile of scores, never all of them.
//
// A row keeps the maximum m of its scores so far, the sum l of exp(score − m), and o = Σ exp(score
// − m) · value. If a tile of keys has a larger maximum m', l and o are first multiplied by exp(m −
// m'). At the end o / l is the row's output (Milakov and Gimelshein 2018; Dao et al. 2022). The
// backward pass, tiled_backward.cpp, recomputes the weights as exp(score − (m + ln l)).
//
// Tiles of keys begin at multiples of kKeyTile of a range's own numbers, whichever queries share
// them. Masked keys add exact zeros. So a row's bits depend only on its query and the keys it
// sees, not on threads, batch, neighboring rows, or whether it was a cached step.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/parameter.h"
#include "compute/threads.h"
#include "nn/attention/attention.h"
#include "nn/attention/key_ranges.h"
#include "nn/dropout.h"

namespace attn {

/// Number of keys whose scores are added to a row's sums at a time.
inline constexpr Index kKeyTile = 128;

/// Rows of full attention that see at most this many keys read them all at once: they have few
/// scores, and softmax needs no running sums.
inline constexpr Index kShortRow = 512;

/// True if a group goes through tiles. Others have full attention over few keys.
bool is_tiled(const AttentionShape& shape, const AttentionGroup& group);

/// A tile of queries of one head of one group.
struct TileTask {
  Index group = 0;  ///< index among the groups
  Index head = 0;
  Index first_sum = 0;  ///< start of the sums of the head's rows
  QueryTile tile = {};
};

/// The tiles of all groups that go through tiles, and the sums of their rows.
class TileTasks {
 public:
  TileTasks(const AttentionShape& shape, std::span<const AttentionGroup> groups);

  /// Calls f(task) for all tiles, on several threads. Tiles that begin rows run before those that
  /// continue them.
  template <typename F>
  void for_each(F&& f) const {
    for (const std::vector<TileTask>* tasks : {&first, &later}) {
      parallel_for(std::ssize(*tasks), 2 * multiply_adds, [&](Index i) { f(at(*tasks, i)); });
    }
  }

  std::vector<TileTask> first;
  std::vector<TileTask> later;
  Index sums = 0;           ///< rows of all heads
  Index multiply_adds = 0;  ///< of queries and keys
};

/// Running sums of rows. At the end of a row `maximum` becomes m + ln l, or −∞ if it sees no key.
struct RowSums {
  float* maximum;
  float* sum;
};

/// The dropout that training applies to the weights of one head of a group.
struct TileDropout {
  Dropout dropout = {};
  Index first = 0;          ///< number of the head's first weight, for dropout
  bool keeps_sums = false;  ///< true: short rows save their sums, too
};

/// Returns the dropout of one head of a group.
TileDropout dropout_of_head(const AttentionInput& input, const SavedForBackward& saved, Index group,
                            Index head);

/// The sums of all rows, which tasks share, and the dropout of the task's head.
struct TileSums {
  RowSums sums;
  TileDropout dropout = {};
};

/// Computes the output of a tile's rows. Tasks with different rows are independent.
void attend_tile(const AttentionShape& shape, const AttentionInput& input, const TileTask& task,
                 const TileSums& state, MatrixRef output);

// The blocks of keys of a tile, for the forward and the backward pass.

/// Memory that grows and is reused.
class TileMemory {
 public:
  float* reserve(Index count) {
    if (memory_.size() < to_size(count)) memory_ = AlignedFloats(to_size(count));
    return memory_.data();
  }

 private:
  AlignedFloats memory_;
};

/// Returns the multiplication y [rows, out] = x [rows, in] · panels [in, out]. The caller sets
/// `rows` and other differences.
PanelMatmul panel_matmul_of(const float* x, Index in, const float* panels, Index out, float* y);

/// Multiplies over all panels, on this thread.
void run_panel_matmul(const PanelMatmul& product);

/// One head of one group, and the rows that its tiles read.
struct TiledHead {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;

  Index first_query() const { return group.keys - group.queries; }
  /// Returns the index of a tile's row r among the group's queries.
  Index query_of(const QueryTile& tile, Index r) const {
    return tile.first + r * tile.step - first_query();
  }
};

/// Numbers [first, end) of a range's list, and the rows of the tile that see any of them.
struct KeyBlock {
  Index first = 0;
  Index end = 0;
  Index first_row = 0;
  Index end_row = 0;

  Index keys() const { return end - first; }
  Index rows() const { return end_row - first_row; }
};

/// Computes scores [rows, kKeyTile] = the rows of a block, from `first_row` on, · its keys, in
/// `panels`, with the same bits forward and backward.
void multiply_by_keys(const float* first_row, Index head_dim, const KeyBlock& block,
                      const float* panels, float* scores);

/// The rows of a block's keys and values, and the columns that no query sees.
struct KeyBlockRows {
  std::vector<std::int32_t> rows;            ///< of the keys, if they are not consecutive
  std::vector<std::int32_t> masked_columns;  ///< columns of padding, or of keys of other ranges

  /// Finds both.
  void find(const TiledHead& head, const KeyRange& range, const KeyBlock& block);
  GatheredRows of(const GatheredRows& all) const;

 private:
  bool in_order_ = false;
  Index first_ = 0;
};

/// Lanes of a SIMD group. Blocks begin at multiples of it, so that a number always has the same
/// lane.
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

/// Rows whose scores are in memory at once: a multiple of each kernel table's block of rows.
inline constexpr Index kRowsAtOnce = 66;

/// Calls f(part) for the rows of a block, a few at a time, so that their scores stay in cache.
template <typename F>
void for_rows_of(const KeyBlock& block, F&& f) {
  KeyBlock part = block;
  for (; part.first_row < block.end_row; part.first_row = part.end_row) {
    part.end_row = std::min(part.first_row + kRowsAtOnce, block.end_row);
    f(part);
  }
}

/// Sets scores [the block's rows, kKeyTile] to −∞ where a row does not see a key.
void mask_block(const KeyRange& range, const KeyBlock& block,
                const std::vector<std::int32_t>& masked_columns, float* scores);

/// Returns the dropout of a range. Lists of keys need a different mask, because their numbers
/// belong to other keys.
Dropout dropout_of(const Dropout& dropout, const KeyRange& range);

// The backward pass recomputes the weights from one log-sum-exp per row.

/// Runs the backward pass of one head of one group.
struct TiledHeadBackward {
  Index group = 0;
  Index head = 0;
  const float* log_sums = nullptr;  ///< [queries] attend_tile()'s `maximum`
  TileDropout dropout;
  RelativePositionBiasGradient& relative_bias;
};

/// The output of the forward pass and its gradient, both [T, D].
struct OutputGradient {
  const float* output;
  Index output_stride;
  ConstMatrixRef doutput;
};

/// Writes the head's columns of `gradient` for the rows of its group. Sums follow the order of the
/// tiles, so heads can run on any threads.
void attend_tiled_backward(const AttentionShape& shape, const AttentionInput& input,
                           const TiledHeadBackward& head, const OutputGradient& output,
                           const AttentionInputGradient& gradient);

}  // namespace attn
