#include "nn/attention/observed_head.h"

namespace attn {

Matrix gathered(const GatheredRows& from, Index n, Index width) {
  Matrix out(n, width);
  for (Index j = 0; j < n; ++j) {
    const float* row = from.base + (from.rows != nullptr ? Index{from.rows[j]} : j) * from.stride;
    out.row(j) = Eigen::Map<const RowVector>(row, width);
  }
  return out;
}

ObservedRows::ObservedRows(const AttentionShape& shape_of, const AttentionGroup& group_of,
                           const HeadRows& rows_of)
    : shape(shape_of),
      group(group_of),
      rows(rows_of),
      key(gathered(rows.keys, group.keys, shape.head_dim)),
      value(gathered(rows.values, group.keys, shape.head_dim)) {}

ObservedRows::ObservedRows(const AttentionShape& shape_of, const AttentionGroup& group_of,
                           const HeadRows& rows_of, Matrix mask_of)
    : ObservedRows(shape_of, group_of, rows_of) {
  mask = std::move(mask_of);
  scores.resize(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    score_row(shape, rows, i, group.keys, scores.row(i).data());
  }
}

AttentionHead ObservedRows::view(Index head) {
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> output(rows.output, group.queries, shape.head_dim,
                                                     Eigen::OuterStride<>(rows.output_stride));
  return {
      .kind = shape.kind,
      .layer = shape.layer,
      .head = head,
      .sentence = group.sentence,
      .scale = shape.scale,
      .query = {rows.query, group.queries, shape.head_dim, Eigen::OuterStride<>(rows.query_stride)},
      .key = key,
      .value = value,
      .scores = scores,
      .mask = mask,
      .weights = weights,
      .output = output,
      .seen = seen,
      .own_projections = own_projections,
      .hashes = hashes,
      .estimated = estimated};
}

void ObservedRows::show(Index head, AttentionObserver& observer) {
  const Matrix computed = weights;
  AttentionHead shown = view(head);
  observer.weights_ready(shown);
  SeenKeys seen_keys;
  for (Index i = 0; i < group.queries; ++i) {
    if (weights.row(i) == computed.row(i)) continue;
    seen_keys.find(weights.row(i).data(), rows.values, group.keys,
                   [&](Index j) { return mask(i, j) != kMinusInfinity; });
    seen_keys.sum(rows.values, rows.head_dim, rows.output + i * rows.output_stride);
  }
  observer.output_ready(shown);
}

}  // namespace attn
