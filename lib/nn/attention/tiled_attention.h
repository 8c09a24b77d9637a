// Attention of long sentences and of patterns, through tiles of keys: memory for a tile of scores,
// never for all of them.
//
// A row keeps the maximum m of its scores so far, the sum l of exp(score − m), and o = Σ exp(score
// − m) · value. Where a tile of keys brings a larger maximum m', l and o are multiplied with exp(m
// − m') first; in the end o / l is the row's output (Milakov and Gimelshein 2018; Dao et al. 2022).
// The way back computes the weights again, as exp(score − (m + ln l)).
//
// Tiles of keys begin at multiples of kKeyTile of a range's own numbers, whatever queries share
// them. What a row does not see adds exact zeros. So a row's bits depend on its query and on the
// keys it sees, not on threads, batch, its neighbours, or whether it was a cached step.
#pragma once

#include <vector>

#include "compute/threads.h"
#include "nn/attention/attention_head.h"
#include "nn/attention/key_ranges.h"
#include "nn/dropout.h"

namespace attn {

/// Keys whose scores join a row's sums at a time.
inline constexpr Index kKeyTile = 128;

/// Rows of full attention that see at most so many keys take them all at once: their scores are
/// few, and softmax needs no running sums.
inline constexpr Index kShortRow = 512;

/// Whether a group goes through tiles; else its rows are short ones of full attention.
bool is_tiled(const AttentionShape& shape, const AttentionGroup& group);

/// A tile of queries of one head of one group.
struct TileTask {
  Index group = 0;  ///< index among the groups
  Index head = 0;
  Index first_sum = 0;  ///< where the sums of the head's rows begin
  QueryTile tile = {};
};

/// The tiles of all groups that go through tiles, and the sums of their rows.
class TileTasks {
 public:
  TileTasks(const AttentionShape& shape, std::span<const AttentionGroup> groups);

  /// Calls f(task) for all tiles, on the threads: those that begin rows before those that go on
  /// with them.
  template <typename F>
  void for_each(F&& f) const {
    for (const std::vector<TileTask>* tasks : {&first, &later}) {
      parallel_for(std::ssize(*tasks), 2 * multiply_adds, [&](Index i) { f(at(*tasks, i)); });
    }
  }

  std::vector<TileTask> first;
  std::vector<TileTask> later;
  Index sums = 0;           ///< rows of all heads
  Index multiply_adds = 0;  ///< of the products of queries and keys
};

/// Running sums of rows; `maximum` becomes m + ln l where a row ends, −∞ where it sees nothing.
struct RowSums {
  float* maximum;
  float* sum;
};

/// What training adds to a tile on its way: dropout, the number of the head's first weight in its
/// mask, and that the sums of short rows are kept, too.
struct TileDropout {
  Dropout dropout = {};
  Index first = 0;
  bool keeps_sums = false;
};

/// What tasks share: the sums of all rows, and what dropout does to the task's head.
struct TileSums {
  RowSums sums;
  TileDropout dropout = {};
};

/// The output of a tile's rows. Tasks of different rows are independent.
void attend_tile(const AttentionShape& shape, const AttentionInput& input, const TileTask& task,
                 const TileSums& state, MatrixRef output);

}  // namespace attn
