#include "nn/attention/tiled_attention.h"

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention_mask.h"

namespace attn {
namespace {

struct BackwardScratch {
  TileMemory queries, doutput, dqueries;  ///< [rows, K]
  TileMemory query_panels,
      doutput_panels;           ///< the first two of the above, packed as rows of panels
  TileMemory scores, dweights;  ///< [rows at once, kKeyTile]
  TileMemory key_columns, value_columns, key_rows;  ///< a block, packed
  TileMemory strips;  ///< [kKeyTile, rows at once] of weights or score gradients
  TileMemory dblock;  ///< [2, kKeyTile, K] of keys and values
  TileMemory sums;    ///< [2, rows] log-sums, deltas
  KeyBlockRows block;
};

/// Rows [·, K] of one head in a larger matrix, beginning with the group's first row.
struct GradientRows {
  float* base;
  Index stride;
};

/// A tile in the backward pass, with memory of its own.
struct BackwardTile {
  const TiledHead& head;
  const QueryTile& tile;
  BackwardScratch& scratch;
  Index head_dim;
  float* queries;
  float* doutput;
  float* dqueries;
  float* scores;
  float* dweights;
  float* dkeys;    ///< gradients of the current block's keys, followed by
  float* dvalues;  ///< those of its values
  float* log_sums;
  float* deltas;
};

Index padded_width(Index width) {
  return kernels().panels_of(width) * kernels().panel_width;
}

void pack_block(const BackwardTile& t, const KeyBlock& block) {
  BackwardScratch& s = t.scratch;
  const GatheredRows keys = s.block.of(t.head.rows.keys);
  const Index size = kKeyTile * padded_width(t.head_dim);
  float* key_columns = s.key_columns.reserve(size);
  float* value_columns = s.value_columns.reserve(size);
  kernels().pack_columns(keys, block.keys(), t.head_dim, key_columns);
  kernels().pack_columns(s.block.of(t.head.rows.values), block.keys(), t.head_dim, value_columns);
  kernels().pack_rows(keys, block.keys(), t.head_dim, s.key_rows.reserve(size));
  std::fill_n(t.dkeys, 2 * kKeyTile * t.head_dim, 0.0F);
}

/// Computes scores = queries · keysᵀ and dweights = doutput · valuesᵀ.
void multiply_block(const BackwardTile& t, const KeyBlock& block) {
  const Index begin = block.first_row * t.head_dim;
  multiply_by_keys(t.queries + begin, t.head_dim, block, t.scratch.key_columns.reserve(0),
                   t.scores);
  multiply_by_keys(t.doutput + begin, t.head_dim, block, t.scratch.value_columns.reserve(0),
                   t.dweights);
}

/// Adds the relative position bias to the scores before they are scaled, if the head has one.
void add_relative_bias(const BackwardTile& t, const KeyRange& range, const KeyBlock& block) {
  const float* relative_bias = t.head.rows.relative_bias;
  if (relative_bias == nullptr) return;
  for (Index r = block.first_row; r < block.end_row; ++r) {
    float* row = t.scores + (r - block.first_row) * kKeyTile;
    const float* own = relative_bias - t.head.query_of(t.tile, r);
    for (Index n = 0; n < block.keys(); ++n) {
      row[n] += own[range.list[block.first + n]] / t.head.shape.scale;
    }
  }
}

/// Sums the score gradients by distance.
void sum_distances(const BackwardTile& t, const KeyRange& range, const KeyBlock& block,
                   const TiledHeadBackward& head) {
  if (!head.relative_bias.wanted()) return;
  const Index task = head.group * t.head.shape.heads + head.head;
  for (Index r = block.first_row; r < block.end_row; ++r) {
    const float* row = t.dweights + (r - block.first_row) * kKeyTile;
    head.relative_bias.add(task, t.head.first_query() + t.head.query_of(t.tile, r),
                           {row, to_size(block.keys())},
                           [&](Index n) { return range.list[block.first + n]; });
  }
}

/// Replaces the scores by weights, and the weight gradients by score gradients.
void differentiate(const BackwardTile& t, const KeyRange& range, const KeyBlock& block,
                   const TileDropout& dropout) {
  const Dropout own = dropout_of(dropout.dropout, range);
  const Index row = block.first_row;
  const Index keys = t.head.group.keys;
  BackwardBlock rows{};
  rows.scores = t.scores;
  rows.dweights = t.dweights;
  rows.stride = kKeyTile;
  rows.rows = block.rows();
  rows.n = block.keys();
  rows.scale = t.head.shape.scale;
  rows.bias = range.bias;
  rows.log_sum = t.log_sums + row;
  rows.delta = t.deltas + row;
  rows.dropout = own.key();
  rows.first =
      static_cast<std::uint32_t>(dropout.first + t.head.query_of(t.tile, row) * keys + block.first);
  rows.row_step = static_cast<std::uint32_t>(keys * t.tile.step);
  kernels().backward_block(rows);
}

/// Adds score gradients · keys to dqueries.
void add_to_queries(const BackwardTile& t, const KeyBlock& block) {
  PanelMatmul product = panel_matmul_of(t.dweights, block.keys(), t.scratch.key_rows.reserve(0),
                                        t.head_dim, t.dqueries + block.first_row * t.head_dim);
  product.x_stride = kKeyTile;
  product.rows = block.rows();
  product.chain = kKeyTile;
  product.add = true;
  run_panel_matmul(product);
}

/// Adds factor [rows, kKeyTile]ᵀ · the rows in `panels` to sum [keys, K].
void add_to_keys(const BackwardTile& t, const KeyBlock& block, const float* factor,
                 const float* panels, float* sum) {
  const Index rows = block.rows();
  float* strips = t.scratch.strips.reserve((kKeyTile + kernels().row_block) * rows);
  kernels().pack_strips(factor, kKeyTile, rows, block.keys(), strips);
  PanelMatmul product = panel_matmul_of(
      strips, rows, panels + block.first_row * kernels().panel_width, t.head_dim, sum);
  product.panel_rows = t.tile.count;
  product.rows = block.keys();
  product.chain = rows;
  product.strips = true;
  product.add = true;
  run_panel_matmul(product);
}

/// Adds sum [keys, K] to the block's rows of `to`.
void scatter(const BackwardTile& t, const KeyBlock& block, const float* sum,
             const GradientRows& to) {
  const GatheredRows keys = t.scratch.block.of({to.base, to.stride, nullptr});
  float* first = to.base + (keys.base - to.base);
  for (Index n = 0; n < block.keys(); ++n) {
    const Index row = keys.rows != nullptr ? keys.rows[n] : n;
    kernels().add(sum + n * t.head_dim, first + row * to.stride, t.head_dim);
  }
}

/// Copies the tile's rows into its memory, with the row sums that the forward pass saved.
void load_tile(const BackwardTile& t, const TiledHeadBackward& head, const GatheredRows& output,
               const GatheredRows& doutput) {
  for (Index r = 0; r < t.tile.count; ++r) {
    const Index i = t.head.query_of(t.tile, r);
    const float* out = output.base + i * output.stride;
    const float* dout = doutput.base + i * doutput.stride;
    std::copy_n(t.head.rows.query + i * t.head.rows.query_stride, t.head_dim,
                t.queries + r * t.head_dim);
    std::copy_n(dout, t.head_dim, t.doutput + r * t.head_dim);
    kernels().dot_products(out, {dout, t.head_dim, nullptr}, 1, t.head_dim, {t.deltas + r});
    t.log_sums[r] = head.log_sums[i];
  }
  std::fill_n(t.dqueries, t.tile.count * t.head_dim, 0.0F);
  const GatheredRows queries{t.queries, t.head_dim, nullptr};
  const GatheredRows gradients{t.doutput, t.head_dim, nullptr};
  const Index size = t.tile.count * padded_width(t.head_dim);
  kernels().pack_rows(queries, t.tile.count, t.head_dim, t.scratch.query_panels.reserve(size));
  kernels().pack_rows(gradients, t.tile.count, t.head_dim, t.scratch.doutput_panels.reserve(size));
}

void store_tile(const BackwardTile& t, const GradientRows& dqueries) {
  for (Index r = 0; r < t.tile.count; ++r) {
    float* to = dqueries.base + t.head.query_of(t.tile, r) * dqueries.stride;
    const float* from = t.dqueries + r * t.head_dim;
    if (t.tile.begins) {
      std::copy_n(from, t.head_dim, to);
    } else {
      kernels().add(from, to, t.head_dim);
    }
  }
}

BackwardTile tile_in(BackwardScratch& s, const TiledHead& head, const QueryTile& tile) {
  const Index head_dim = head.shape.head_dim;
  const Index size = tile.count * head_dim;
  float* sums = s.sums.reserve(2 * tile.count);
  float* dblock = s.dblock.reserve(2 * kKeyTile * head_dim);
  return {head,
          tile,
          s,
          head_dim,
          s.queries.reserve(size),
          s.doutput.reserve(size),
          s.dqueries.reserve(size),
          s.scores.reserve(kRowsAtOnce * kKeyTile),
          s.dweights.reserve(kRowsAtOnce * kKeyTile),
          dblock,
          dblock + kKeyTile * head_dim,
          sums,
          sums + tile.count};
}

void clear_rows(const GradientRows& rows, Index count, Index width) {
  for (Index j = 0; j < count; ++j) std::fill_n(rows.base + j * rows.stride, width, 0.0F);
}

/// Pointers to the first gradients of one head's queries, keys and values.
struct HeadGradients {
  GradientRows dqueries;
  GradientRows dkeys;
  GradientRows dvalues;
};

}  // namespace

void attend_tiled_backward(const AttentionShape& shape, const AttentionInput& input,
                           const TiledHeadBackward& head, const OutputGradient& output,
                           const AttentionInputGradient& gradient) {
  const AttentionGroup& group = at(input.groups, head.group);
  const Index column = head.head * shape.head_dim;
  const auto gradients = [&](MatrixRef dqueries, float* dkeys, float* dvalues, Index stride) {
    const Index first_key = group.first_key * stride + column;
    const Index first_query = group.first_query * dqueries.outerStride() + column;
    return HeadGradients{{dqueries.data() + first_query, dqueries.outerStride()},
                         {dkeys + first_key, stride},
                         {dvalues + first_key, stride}};
  };
  const HeadGradients own =
      gradients(gradient.dqueries, gradient.dkeys, gradient.dvalues, gradient.stride);
  HeadGradients of_globals = own;
  clear_rows(own.dqueries, group.queries, shape.head_dim);
  clear_rows(own.dkeys, group.keys, shape.head_dim);
  clear_rows(own.dvalues, group.keys, shape.head_dim);
  if (const GlobalGradient* global = gradient.global) {
    of_globals = gradients(global->dqueries, global->dkeys, global->dvalues, global->stride);
    clear_rows(of_globals.dqueries, group.queries, shape.head_dim);
    clear_rows(of_globals.dkeys, group.keys, shape.head_dim);
    clear_rows(of_globals.dvalues, group.keys, shape.head_dim);
  }
  const GatheredRows out{output.output + group.first_query * output.output_stride + column,
                         output.output_stride, nullptr};
  const GatheredRows dout{
      output.doutput.data() + group.first_query * output.doutput.outerStride() + column,
      output.doutput.outerStride(), nullptr};
  auto& scratch = thread_instance<BackwardScratch>();
  MatrixRef unused =
      gradient.dqueries;  // the head's rows have an output, which is not written here
  for (const QueryTile& tile : tiles_of_head(shape, group, head.head)) {
    const TiledHead rows{shape, group,
                         head_rows({shape, input, group, head.head}, unused, tile.is_global)};
    const HeadGradients& to = tile.is_global ? of_globals : own;
    const BackwardTile t = tile_in(scratch, rows, tile);
    load_tile(t, head, out, dout);
    for_each_block(tile, [&](const KeyRange& range, const KeyBlock& block) {
      scratch.block.find(rows, range, block);
      pack_block(t, block);
      for_rows_of(block, [&](const KeyBlock& part) {
        multiply_block(t, part);
        add_relative_bias(t, range, part);
        mask_block(range, part, scratch.block.masked_columns, t.scores);
        differentiate(t, range, part, head.dropout);
        sum_distances(t, range, part, head);
        add_to_queries(t, part);
        add_to_keys(t, part, t.scores, scratch.doutput_panels.reserve(0), t.dvalues);
        add_to_keys(t, part, t.dweights, scratch.query_panels.reserve(0), t.dkeys);
      });
      scatter(t, block, t.dkeys, to.dkeys);
      scatter(t, block, t.dvalues, to.dvalues);
    });
    store_tile(t, to.dqueries);
  }
}

}  // namespace attn
