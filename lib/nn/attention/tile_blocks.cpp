#include "nn/attention/tile_blocks.h"

#include "base/at.h"

namespace attn {

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
