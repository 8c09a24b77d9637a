// The mask of one head as a whole matrix: for those who watch, and for tests.
#pragma once

#include "config/pattern_cells.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/attention.h"
#include "nn/attention/key_ranges.h"

namespace attn {

/// Whether a group's queries see all keys, or all earlier ones.
inline bool is_dense(const AttentionShape& shape, const AttentionGroup& group) {
  return shape.pattern == nullptr || is_dense(*shape.pattern, group.keys);
}

/// The tiles of one head of one group; of full attention where the shape has no pattern.
std::vector<QueryTile> tiles_of_head(const AttentionShape& shape, const AttentionGroup& group,
                                     Index head);

/// How many pairs of a query and a key one head of a group looks at.
Index visible_pairs(const AttentionShape& shape, const AttentionGroup& group, Index head);

/// The cells of one head's map that are computed, and why; rows are the group's queries.
PatternCells pattern_cells(const AttentionShape& shape, const AttentionGroup& group, Index head);

/// Row i of mask_matrix(). `seen`: the head's pattern_cells(), null where is_dense().
void mask_row(const AttentionGroup& group, const PatternCells* seen, Index i, float* row);

/// [L, S] what is added to the scores before softmax: −∞ where a query may not look, else 0 or the
/// pattern's bias.
Matrix mask_matrix(const AttentionShape& shape, const AttentionGroup& group, Index head);

}  // namespace attn
