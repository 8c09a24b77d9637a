#include "nn/attention/attention_mask.h"

#include <algorithm>

#include "base/at.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {

std::vector<QueryTile> query_tiles(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows) {
  QueryTileBuilder builder(pattern, layer, head, rows);
  if (is_dense(pattern, rows.keys)) {
    builder.add_full();
  } else {
    attention_for(pattern).make_tiles(builder);
  }
  return builder.take();
}

std::vector<QueryTile> tiles_of_head(const AttentionShape& shape, const AttentionGroup& group,
                                     Index head) {
  const PatternRows rows{group.queries, group.keys, group.mask.causal, group.globals, group.origin};
  static const AttentionPattern full;
  return query_tiles(shape.pattern != nullptr ? *shape.pattern : full, shape.layer, head, rows);
}

Index visible_pairs(const AttentionShape& shape, const AttentionGroup& group, Index head) {
  const std::span<const Index> globals = group.globals;
  Index pairs = 0;
  for (const QueryTile& tile : tiles_of_head(shape, group, head)) {
    for (const KeyRange& range : tile.ranges) {
      for (Index r = 0; r < tile.count; ++r) {
        const Index first = range.first_of(r), end = range.end_of(r), own = range.own + r;
        if (first >= end) continue;
        const Index hole = std::max(first, own - range.hole);
        const Index hole_end = std::min(end, own + range.hole + 1);
        pairs += end - first - std::max<Index>(0, hole_end - hole);
        if (!range.skip_globals) continue;
        pairs -= std::lower_bound(globals.begin(), globals.end(), end) -
                 std::lower_bound(globals.begin(), globals.end(), first);
      }
    }
  }
  return pairs;
}

PatternCells pattern_cells(const AttentionShape& shape, const AttentionGroup& group, Index head) {
  std::vector<std::vector<CellRun>> rows(to_size(group.queries));
  const Index first_query = group.keys - group.queries;
  for (const QueryTile& tile : tiles_of_head(shape, group, head)) {
    for (Index r = 0; r < tile.count; ++r) {
      std::vector<CellRun>& runs = at(rows, tile.first + r * tile.step - first_query);
      for_each_key(tile, r, group.globals, [&](Index position, const KeyRange& range) {
        const auto key = narrow_cast<std::int32_t>(position);
        if (!runs.empty() && runs.back().end == key && runs.back().reason == range.reason &&
            runs.back().bias == range.bias) {
          ++runs.back().end;
        } else {
          runs.push_back({key, key + 1, range.reason, range.bias});
        }
      });
    }
  }
  PatternCells seen;
  for (std::vector<CellRun>& runs : rows) {
    std::sort(runs.begin(), runs.end(),
              [](const CellRun& a, const CellRun& b) { return a.first < b.first; });
    seen.runs.insert(seen.runs.end(), runs.begin(), runs.end());
    seen.end_row();
  }
  return seen;
}

void mask_row(const AttentionGroup& group, const PatternCells* seen, Index i, float* row) {
  std::fill(row, row + group.keys, kMinusInfinity);
  if (seen == nullptr) {  // cross-attention, for example
    std::fill(row, row + visible_keys(group, i), 0.0F);
  } else {
    for (const CellRun& run : seen->row(to_int(i)))
      std::fill(row + run.first, row + run.end, run.bias);
  }
  const std::span<const std::uint8_t> key_padding_mask = group.mask.key_padding_mask;
  for (Index j = 0; j < std::ssize(key_padding_mask); ++j) {
    if (at(key_padding_mask, j) != 0) row[j] = kMinusInfinity;
  }
}

Matrix mask_matrix(const AttentionShape& shape, const AttentionGroup& group, Index head) {
  const bool all = is_dense(shape, group);
  const PatternCells seen = all ? PatternCells() : pattern_cells(shape, group, head);
  Matrix mask(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    mask_row(group, all ? nullptr : &seen, i, mask.row(i).data());
  }
  return mask;
}

}  // namespace attn
