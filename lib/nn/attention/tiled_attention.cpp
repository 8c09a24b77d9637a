#include "nn/attention/tiled_attention.h"

#include <cmath>
#include <limits>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention_mask.h"

namespace attn {
namespace {

/// Up to this many rows read a block's values unpacked, because packing them would cost more.
constexpr Index kFewRows = 3;

struct ForwardScratch {
  TileMemory queries;  ///< [rows, K]
  TileMemory output;   ///< [rows, K]
  TileMemory scores;   ///< [rows at once, kKeyTile]
  TileMemory keys;     ///< panels of the keys as columns
  TileMemory values;   ///< panels of the values as rows
  TileMemory sums;     ///< [2, rows]
  TileMemory row;      ///< [K]
  KeyBlockRows block;
  VisibleValues seen;
};

/// A tile in progress, with memory of its own.
struct Tile {
  const TiledHead& head;
  const QueryTile& tile;
  float* queries;
  float* output;
  float* scores;
  RowSums sums;
};

/// Scales the scores and adds the relative position bias. Without a bias, does nothing:
/// softmax_block() scales them then.
void add_relative_bias(const Tile& t, const KeyRange& range, const KeyBlock& block) {
  const float* relative_bias = t.head.rows.relative_bias;
  if (relative_bias == nullptr) return;
  for (Index r = block.first_row; r < block.end_row; ++r) {
    float* row = t.scores + (r - block.first_row) * kKeyTile;
    const float* own = relative_bias - t.head.query_of(t.tile, r);
    for (Index n = 0; n < block.keys(); ++n) {
      row[n] = row[n] * t.head.shape.scale + own[range.list[block.first + n]];
    }
  }
}

/// Adds weights · values to the output, one row at a time. Values whose weight is 0 are skipped:
/// they may be infinite if no query sees them.
void add_values_by_rows(const Tile& t, const KeyBlock& block, const GatheredRows& values,
                        ForwardScratch& scratch) {
  const Index head_dim = t.head.shape.head_dim;
  float* sum = scratch.row.reserve(head_dim);
  VisibleValues& seen = scratch.seen;
  for (Index r = block.first_row; r < block.end_row; ++r) {
    const float* weights = t.scores + (r - block.first_row) * kKeyTile;
    seen.find(weights, values, block.keys(), [&](Index n) { return weights[n] != 0.0F; });
    seen.sum(values, head_dim, sum);
    kernels().add(sum, t.output + r * head_dim, head_dim);
  }
}

/// Adds weights · values to the output. The values are packed in panels.
void add_values(const Tile& t, const KeyBlock& block, const float* panels) {
  const Index head_dim = t.head.shape.head_dim;
  PanelMatmul product = panel_matmul_of(t.scores, block.keys(), panels, head_dim,
                                        t.output + block.first_row * head_dim);
  product.x_stride = kKeyTile;
  product.rows = block.rows();
  product.chain = kKeyTile;
  product.add = true;
  run_panel_matmul(product);
}

/// Turns a block's scores into exponentials and adds them to the sums.
void add_block(const Tile& t, const KeyRange& range, const KeyBlock& block) {
  const Index head_dim = t.head.shape.head_dim;
  const Index r = block.first_row;
  const float scale = t.head.rows.relative_bias != nullptr ? 1.0F : t.head.shape.scale;
  kernels().softmax_block({t.scores, kKeyTile, block.rows(), block.keys(), scale, range.bias,
                           t.sums.maximum + r, t.sums.sum + r, t.output + r * head_dim, head_dim,
                           head_dim});
}

void drop_weights(const Tile& t, const KeyRange& range, const KeyBlock& block,
                  const TileDropout& dropout) {
  if (!dropout.dropout.active()) return;
  const Dropout own = dropout_of(dropout.dropout, range);
  for (Index r = block.first_row; r < block.end_row; ++r) {
    const Index i = t.head.query_of(t.tile, r);
    own.apply(t.scores + (r - block.first_row) * kKeyTile, block.keys(),
              dropout.first + i * t.head.group.keys + block.first);
  }
}

/// Copies rows of the head's matrices to the tile's own memory.
void load_rows(const Tile& t, const RowSums& sums) {
  const Index head_dim = t.head.shape.head_dim;
  const HeadRows& rows = t.head.rows;
  for (Index r = 0; r < t.tile.count; ++r) {
    const Index i = t.head.query_of(t.tile, r);
    std::copy_n(rows.query + i * rows.query_stride, head_dim, t.queries + r * head_dim);
    if (t.tile.begins) {
      std::fill_n(t.output + r * head_dim, head_dim, 0.0F);
      t.sums.maximum[r] = kMinusInfinity;
      t.sums.sum[r] = 0.0F;
    } else {
      std::copy_n(rows.output + i * rows.output_stride, head_dim, t.output + r * head_dim);
      t.sums.maximum[r] = sums.maximum[i];
      t.sums.sum[r] = sums.sum[i];
    }
  }
}

/// True if query i may look at any key, whatever its score.
bool sees_any_key(const TiledHead& head, Index number, Index i) {
  const AttentionGroup& group = head.group;
  if (group.mask.key_padding_mask.empty()) return true;  // itself, or all keys of another sentence
  RowVector mask(group.keys);
  if (is_dense(head.shape, group)) {
    mask_row(group, nullptr, i, mask.data());
  } else {
    const PatternCells seen = pattern_cells(head.shape, group, number);
    mask_row(group, &seen, i, mask.data());
  }
  return (mask.array() != kMinusInfinity).any();
}

/// Returns the output of a row whose weights are all 0: 0 if the query sees nothing, NaN if it
/// sees keys but all their scores are below the smallest float.
float without_weights(const TiledHead& head, Index number, Index i) {
  return sees_any_key(head, number, i) ? std::numeric_limits<float>::quiet_NaN() : 0.0F;
}

void store_rows(const Tile& t, const RowSums& sums, Index number) {
  const Index head_dim = t.head.shape.head_dim;
  const HeadRows& rows = t.head.rows;
  for (Index r = 0; r < t.tile.count; ++r) {
    const Index i = t.head.query_of(t.tile, r);
    const float* from = t.output + r * head_dim;
    float* to = rows.output + i * rows.output_stride;
    sums.maximum[i] = t.sums.maximum[r];
    sums.sum[i] = t.sums.sum[r];
    if (!t.tile.ends) {
      std::copy_n(from, head_dim, to);
      continue;
    }
    const float sum = t.sums.sum[r];
    sums.maximum[i] = sum == 0.0F ? kMinusInfinity : t.sums.maximum[r] + std::log(sum);
    if (sum == 0.0F) {
      std::fill_n(to, head_dim, without_weights(t.head, number, i));
      continue;
    }
    for (Index k = 0; k < head_dim; ++k) to[k] = from[k] / sum;
  }
}

/// Counts the short rows of full attention at the beginning of a tile.
Index short_rows(const TiledHead& head, const QueryTile& tile) {
  if (!is_dense(head.shape, head.group)) return 0;
  Index r = 0;
  while (r < tile.count && visible_keys(head.group, head.query_of(tile, r)) <= kShortRow) ++r;
  return r;
}

QueryTile without_first_rows(QueryTile tile, Index rows) {
  tile.first += rows * tile.step;
  tile.count -= rows;
  for (KeyRange& range : tile.ranges) range.own += rows;
  return tile;
}

Index keys_until_last_shown(const AttentionGroup& group) {
  if (group.mask.key_padding_mask.empty()) return group.keys;
  Index keys = group.keys;
  while (keys > 0 && at(group.mask.key_padding_mask, keys - 1) != 0) --keys;
  return keys;
}

}  // namespace

TileDropout dropout_of_head(const AttentionInput& input, const SavedForBackward& saved, Index group,
                            Index head) {
  const AttentionGroup& rows = at(input.groups, group);
  return {saved.dropout, at(saved.first, group) + head * rows.queries * rows.keys, true};
}

bool is_tiled(const AttentionShape& shape, const AttentionGroup& group) {
  return !is_dense(shape, group) || keys_until_last_shown(group) > kShortRow;
}

TileTasks::TileTasks(const AttentionShape& shape, std::span<const AttentionGroup> groups) {
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_tiled(shape, groups[g])) continue;
    for (Index head = 0; head < shape.heads; ++head) {
      for (QueryTile& tile : tiles_of_head(shape, groups[g], head)) {
        for (const KeyRange& range : tile.ranges) {
          multiply_adds += tile.count * (range.end - range.first) * shape.head_dim;
        }
        std::vector<TileTask>& tasks = tile.begins ? first : later;
        tasks.push_back({to_index(g), head, sums, std::move(tile)});
      }
      sums += groups[g].queries;
    }
  }
}

void attend_tile(const AttentionShape& shape, const AttentionInput& input, const TileTask& task,
                 const TileSums& state, MatrixRef output) {
  const TileDropout& dropout = state.dropout;
  const AttentionGroup& group = at(input.groups, task.group);
  const RowSums sums{state.sums.maximum + task.first_sum, state.sums.sum + task.first_sum};
  auto& scratch = thread_instance<ForwardScratch>();
  const TiledHead head{shape, group,
                       head_rows({shape, input, group, task.head}, output, task.tile.is_global)};
  const Index few = short_rows(head, task.tile);
  for (Index r = 0; r < few; ++r) {
    const Index i = head.query_of(task.tile, r);
    attend_rows(
        {shape,
         group,
         head.rows,
         {dropout.dropout, dropout.first, nullptr, dropout.keeps_sums ? sums.maximum : nullptr}},
        {i, i + 1});
  }
  if (few == task.tile.count) return;
  const QueryTile tile = few > 0 ? without_first_rows(task.tile, few) : task.tile;
  const Index head_dim = shape.head_dim;
  const Tile t{head,
               tile,
               scratch.queries.reserve(tile.count * head_dim),
               scratch.output.reserve(tile.count * head_dim),
               scratch.scores.reserve(std::min(tile.count, kRowsAtOnce) * kKeyTile),
               {scratch.sums.reserve(2 * tile.count), scratch.sums.reserve(0) + tile.count}};
  load_rows(t, sums);
  float* key_panels = scratch.keys.reserve(kKeyTile * head_dim);
  float* value_panels =
      scratch.values.reserve(kKeyTile * kernels().panels_of(head_dim) * kernels().panel_width);
  for_each_block(tile, [&](const KeyRange& range, const KeyBlock& block) {
    scratch.block.find(head, range, block);
    const GatheredRows values = scratch.block.of(head.rows.values);
    kernels().pack_columns(scratch.block.of(head.rows.keys), block.keys(), head_dim, key_panels);
    const bool packed = block.rows() > kFewRows &&
                        kernels().pack_rows(values, block.keys(), head_dim, value_panels);
    for_rows_of(block, [&](const KeyBlock& part) {
      multiply_by_keys(t.queries + part.first_row * t.head.shape.head_dim, t.head.shape.head_dim,
                       part, key_panels, t.scores);
      add_relative_bias(t, range, part);
      mask_block(range, part, scratch.block.masked_columns, t.scores);
      add_block(t, range, part);
      drop_weights(t, range, part, dropout);
      if (packed) {
        add_values(t, part, value_panels);
      } else {
        add_values_by_rows(t, part, values, scratch);
      }
    });
  });
  store_rows(t, sums, task.head);
}

PanelMatmul panel_matmul_of(const float* x, Index in, const float* panels, Index out, float* y) {
  return {.x = x,
          .x_stride = in,
          .rows = 0,
          .in = in,
          .panels = panels,
          .out = out,
          .bias = nullptr,
          .y = y,
          .y_stride = out,
          .panel_rows = in};
}

void run_panel_matmul(const PanelMatmul& product) {
  kernels().panel_matmul(product, 0, kernels().panels_of(product.out));
}

void multiply_by_keys(const float* first_row, Index head_dim, const KeyBlock& block,
                      const float* panels, float* scores) {
  PanelMatmul product = panel_matmul_of(first_row, head_dim, panels, block.keys(), scores);
  product.y_stride = kKeyTile;
  product.rows = block.rows();
  product.chain = kernels().score_chain;
  run_panel_matmul(product);
}

void KeyBlockRows::find(const TiledHead& head, const KeyRange& range, const KeyBlock& block) {
  const AttentionGroup& group = head.group;
  const std::span<const std::uint8_t> padding = group.mask.key_padding_mask;
  in_order_ = range.list.every_key() && group.key_rows == nullptr;
  first_ = block.first;
  masked_columns.clear();
  rows.clear();
  if (!in_order_) {
    for (Index n = block.first; n < block.end; ++n) {
      const Index key = range.list[n];
      rows.push_back(group.key_rows != nullptr ? group.key_rows[key]
                                               : narrow_cast<std::int32_t>(key));
    }
  }
  if (padding.empty() && !range.skip_globals) return;
  for (Index n = block.first; n < block.end; ++n) {
    const Index key = range.list[n];
    const bool elsewhere =
        range.skip_globals && std::binary_search(group.globals.begin(), group.globals.end(), key);
    if (elsewhere || (!padding.empty() && at(padding, key) != 0)) {
      masked_columns.push_back(narrow_cast<std::int32_t>(n - block.first));
    }
  }
}

GatheredRows KeyBlockRows::of(const GatheredRows& all) const {
  if (in_order_) return {all.base + first_ * all.stride, all.stride, nullptr};
  return {all.base, all.stride, rows.data()};
}

void mask_block(const KeyRange& range, const KeyBlock& block,
                const std::vector<std::int32_t>& masked_columns, float* scores) {
  for (Index r = block.first_row; r < block.end_row; ++r) {
    float* row = scores + (r - block.first_row) * kKeyTile;
    const Index first = std::clamp(range.first_of(r), block.first, block.end);
    const Index end = std::clamp(range.end_of(r), first, block.end);
    std::fill(row, row + (first - block.first), kMinusInfinity);
    std::fill(row + (end - block.first), row + block.keys(), kMinusInfinity);
    const Index own = range.own + r;
    const Index hole = std::max(first, own - range.hole);
    const Index hole_end = std::min(end, own + range.hole + 1);
    if (hole < hole_end) {
      std::fill(row + (hole - block.first), row + (hole_end - block.first), kMinusInfinity);
    }
    for (const std::int32_t column : masked_columns) row[column] = kMinusInfinity;
  }
}

Dropout dropout_of(const Dropout& dropout, const KeyRange& range) {
  return range.list.every_key() ? dropout : dropout.other(static_cast<std::uint64_t>(range.reason));
}

}  // namespace attn
