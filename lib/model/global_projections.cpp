#include "model/global_projections.h"

namespace attn {

GlobalTokenAttention::GlobalTokenAttention(const MultiHeadAttention& layer,
                                   std::span<const AttentionGroup> groups, const ConstMatrixRef& x,
                                   Matrix& work)
    : work_(work) {
  const Index d_model = x.cols();
  work.resize(x.rows(), 3 * d_model);
  for (const AttentionGroup& group : groups) {
    for (const Index place : group.globals) {
      if (place >= group.queries) break;
      const Index row = group.first_query + place;
      layer.query_projection(x.middleRows(row, 1), work.middleRows(row, 1).leftCols(d_model));
    }
  }
  layer.kv_projection(x, work.rightCols(2 * d_model));
}

void GlobalTokenAttention::attend(const AttentionShape& shape, AttentionInput rows, MatrixRef heads,
                              AttentionObserver* observer) {
  const Index d_model = work_.cols() / 3;
  const GlobalProjections global{work_.leftCols(d_model),
                                 keys_and_values(work_.rightCols(2 * d_model))};
  rows.global = &global;
  attn::attend(shape, rows, heads, observer);
}

}  // namespace attn
