#include "nn/attention.h"

#include <algorithm>

#include "nn/attention_head.h"

namespace attn {
namespace {

/// The head's work without anybody watching: one query after the other, one row of scratch.
void run_head(const AttentionShape& shape, const AttentionGroup& group, const Head& h) {
  thread_local std::vector<float> row;
  row.resize(std::max(row.size(), static_cast<std::size_t>(group.keys)));
  for (Index i = 0; i < group.queries; ++i) {
    const Index visible = visible_keys(group, i);
    score_row(shape, h, i, visible, row.data());
    mask_and_softmax(group.mask, visible, visible, row.data());
    sum_values(group.mask, h, i, visible, shape.head_dim, row.data());
  }
}

Matrix gather(const GatheredRows& rows, Index n, Index width) {
  Matrix out(n, width);
  for (Index j = 0; j < n; ++j) {
    const float* row = rows.base + (rows.rows != nullptr ? Index{rows.rows[j]} : j) * rows.stride;
    out.row(j) = Eigen::Map<const RowVector>(row, width);
  }
  return out;
}

/// The same work in whole matrices, so that the observer sees every quantity of the formula.
void run_observed_head(const AttentionShape& shape, const AttentionGroup& group, const Head& h,
                       Index head, AttentionObserver& observer) {
  const Matrix key = gather(h.keys, group.keys, shape.head_dim);
  const Matrix value = gather(h.values, group.keys, shape.head_dim);
  Matrix scores(group.queries, group.keys);
  Matrix mask = Matrix::Zero(group.queries, group.keys);
  Matrix weights(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    const Index visible = visible_keys(group, i);
    score_row(shape, h, i, group.keys, scores.row(i).data());
    weights.row(i) = scores.row(i);
    mask_and_softmax(group.mask, visible, group.keys, weights.row(i).data());
    for (Index j = 0; j < group.keys; ++j) {
      const bool padding =
          !group.mask.hidden.empty() && group.mask.hidden[static_cast<std::size_t>(j)] != 0;
      if (j >= visible || padding) mask(i, j) = kMinusInfinity;
    }
  }
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> output(h.output, group.queries, shape.head_dim,
                                                     Eigen::OuterStride<>(h.output_stride));
  AttentionHead view{
      shape.kind,  shape.layer,
      head,        group.sentence,
      shape.scale, {h.query, group.queries, shape.head_dim, Eigen::OuterStride<>(h.query_stride)},
      key,         value,
      scores,      mask,
      weights,     output};
  observer.weights_ready(view);
  for (Index i = 0; i < group.queries; ++i) {
    sum_values(group.mask, h, i, visible_keys(group, i), shape.head_dim, weights.row(i).data());
  }
  observer.output_ready(view);
}

}  // namespace

void attend(const AttentionShape& shape, const ConstMatrixRef& queries, const KeysAndValues& memory,
            std::span<const AttentionGroup> groups, MatrixRef output, AttentionObserver* observer) {
  const Index heads = shape.heads;
  const auto group_count = static_cast<Index>(groups.size());
  if (observer != nullptr) {
    for (const AttentionGroup& group : groups) {
      for (Index head = 0; head < heads; ++head) {
        const Head h = head_of(shape, queries, memory, group, head, output);
        run_observed_head(shape, group, h, head, *observer);
      }
    }
    return;
  }
  Index pairs = 0;
  for (const AttentionGroup& group : groups) pairs += group.queries * group.keys;
  parallel_for(group_count * heads, 2 * pairs * shape.head_dim * heads, [&](Index task) {
    const AttentionGroup& group = groups[static_cast<std::size_t>(task / heads)];
    run_head(shape, group, head_of(shape, queries, memory, group, task % heads, output));
  });
}

void MultiHeadAttention::prepare_self(Backend backend) {
  query_key_value = WeightProduct({query.weight, key.weight, value.weight},
                                  {query.bias, key.bias, value.bias}, backend);
  output_product = output.prepare(backend);
}

void MultiHeadAttention::prepare_cross(Backend backend) {
  query_alone = query.prepare(backend);
  key_value = WeightProduct({key.weight, value.weight}, {key.bias, value.bias}, backend);
  output_product = output.prepare(backend);
}

}  // namespace attn
