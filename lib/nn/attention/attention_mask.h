// The keys that each query of a head sees: its tiles under a pattern, and the mask as a matrix for
// observers and tests.
#pragma once

#include <vector>

#include "config/patterns/pattern_cells.h"
#include "config/patterns/sparse_pattern.h"
#include "nn/attention/attention.h"
#include "nn/attention/key_ranges.h"

namespace attn {

/// True if every query sees every key, or every earlier one: the pattern full, and bigbird on short
/// sentences.
inline bool is_dense(const AttentionPattern& pattern, Index keys) {
  return sparse_pattern(pattern).is_dense(pattern, keys);
}
inline bool is_dense(const AttentionShape& shape, const AttentionGroup& group) {
  return shape.pattern == nullptr || is_dense(*shape.pattern, group.keys);
}

/// Returns tiles that contain every query, in an order in which `begins` and `ends` are right. No
/// key of a row is in two ranges. A row's ranges, and so the order of its sums, depend only on its
/// position, the layer and the head, not on the other queries.
std::vector<QueryTile> query_tiles(const AttentionPattern& pattern, Index layer, Index head,
                                   const PatternRows& rows);

/// Returns query_tiles() of one head of one group. A shape without a pattern has full attention.
std::vector<QueryTile> tiles_of_head(const AttentionShape& shape, const AttentionGroup& group,
                                     Index head);

/// Returns how many query-key pairs one head of a group computes.
Index visible_pairs(const AttentionShape& shape, const AttentionGroup& group, Index head);

/// Returns the cells of one head's map that are computed, and why. Rows are the group's queries.
PatternCells pattern_cells(const AttentionShape& shape, const AttentionGroup& group, Index head);

/// Writes row i of mask_matrix(). `seen`: the head's pattern_cells(), or null if is_dense().
void mask_row(const AttentionGroup& group, const PatternCells* seen, Index i, float* row);

/// Returns the matrix [L, S] that is added to the scores before softmax: −∞ where a query must not
/// look, else 0 or the pattern's bias.
Matrix mask_matrix(const AttentionShape& shape, const AttentionGroup& group, Index head);

}  // namespace attn
