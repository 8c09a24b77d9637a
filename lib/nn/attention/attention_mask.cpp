#include "nn/attention/attention_mask.h"

#include "base/at.h"
#include "nn/attention/attention_head.h"

namespace attn {

std::vector<QueryTile> tiles_of_head(const AttentionShape& shape, const AttentionGroup& group,
                                     Index head) {
  const PatternRows rows{group.queries, group.keys, group.mask.causal, group.globals, group.origin};
  static const AttentionPattern full;
  return query_tiles(shape.pattern != nullptr ? *shape.pattern : full, shape.layer, head, rows);
}

Index pairs_seen(const AttentionShape& shape, const AttentionGroup& group, Index head) {
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

Matrix mask_matrix(const AttentionShape& shape, const AttentionGroup& group, Index head) {
  Matrix mask = Matrix::Constant(group.queries, group.keys, kMinusInfinity);
  const std::span<const std::uint8_t> hidden = group.mask.hidden;
  if (sees_all(shape, group)) {  // cross-attention too, whose queries are not among the keys
    for (Index i = 0; i < group.queries; ++i) mask.row(i).head(visible_keys(group, i)).setZero();
  } else {
    const Index first_query = group.keys - group.queries;
    for (const QueryTile& tile : tiles_of_head(shape, group, head)) {
      for (Index r = 0; r < tile.count; ++r) {
        const Index i = tile.first + r * tile.step - first_query;
        for_each_key(tile, r, group.globals,
                     [&](Index key, const KeyRange& range) { mask(i, key) = range.bias; });
      }
    }
  }
  for (Index j = 0; j < std::ssize(hidden); ++j) {
    if (at(hidden, j) != 0) mask.col(j).setConstant(kMinusInfinity);
  }
  return mask;
}

}  // namespace attn
