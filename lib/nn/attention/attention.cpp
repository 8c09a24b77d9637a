#include "nn/attention/attention.h"

#include <algorithm>

#include "base/at.h"
#include "compute/per_thread.h"
#include "nn/attention/attention_head.h"
#include "nn/attention/attention_mask.h"

namespace attn {
namespace {

struct HeadScratch {
  std::vector<float> row;  ///< [keys]
  SeenKeys seen;
};

/// The head's work without anybody watching: one query after the other, one row of scratch.
void run_head(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows) {
  auto& [row, seen] = of_this_thread<HeadScratch>();
  row.resize(std::max(row.size(), to_size(group.keys)));
  for (Index i = 0; i < group.queries; ++i) {
    const Index visible = visible_keys(group, i);
    score_row(shape, rows, i, visible, row.data());
    mask_and_softmax(group.mask, visible, visible, row.data());
    sum_values(group, rows, i, row.data(), seen);
  }
}

/// The scores of row i over all keys become weights under a mask's row.
void masked_weights(const Matrix& mask, Index i, float* row) {
  for (Index j = 0; j < mask.cols(); ++j) row[j] += mask(i, j);
  kernels().softmax(row, mask.cols());
}

/// Row i of the output, from the keys whose mask is not −∞.
void sum_unmasked(const HeadRows& rows, const Matrix& mask, Index i, const float* weights,
                  SeenKeys& seen) {
  seen.weights.clear();
  seen.rows.clear();
  for (Index j = 0; j < mask.cols(); ++j) {
    if (mask(i, j) == kMinusInfinity) continue;
    seen.weights.push_back(weights[j]);
    seen.rows.push_back(rows.values.rows != nullptr ? rows.values.rows[j]
                                                    : same_number<std::int32_t>(j));
  }
  kernels().weighted_sum(
      seen.weights.data(), {rows.values.base, rows.values.stride, seen.rows.data()},
      std::ssize(seen.weights), rows.head_dim, rows.output + i * rows.output_stride);
}

/// The same of a pattern, through a mask of all queries and keys.
void run_masked_head(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows,
                     Index head) {
  const Matrix mask = mask_matrix(shape, group, head);
  auto& [row, seen] = of_this_thread<HeadScratch>();
  row.resize(std::max(row.size(), to_size(group.keys)));
  for (Index i = 0; i < group.queries; ++i) {
    score_row(shape, rows, i, group.keys, row.data());
    masked_weights(mask, i, row.data());
    sum_unmasked(rows, mask, i, row.data(), seen);
  }
}

Matrix gather(const GatheredRows& from, Index n, Index width) {
  Matrix out(n, width);
  for (Index j = 0; j < n; ++j) {
    const float* row = from.base + (from.rows != nullptr ? Index{from.rows[j]} : j) * from.stride;
    out.row(j) = Eigen::Map<const RowVector>(row, width);
  }
  return out;
}

/// The same work in whole matrices, so that the observer sees every quantity of the formula.
void run_observed_head(const AttentionShape& shape, const AttentionGroup& group,
                       const HeadRows& rows, Index head, AttentionObserver& observer) {
  const bool plain = sees_all(shape, group);
  const Matrix key = gather(rows.keys, group.keys, shape.head_dim);
  const Matrix value = gather(rows.values, group.keys, shape.head_dim);
  Matrix scores(group.queries, group.keys);
  const Matrix mask = mask_matrix(shape, group, head);
  Matrix weights(group.queries, group.keys);
  for (Index i = 0; i < group.queries; ++i) {
    const Index visible = visible_keys(group, i);
    score_row(shape, rows, i, group.keys, scores.row(i).data());
    weights.row(i) = scores.row(i);
    if (plain) {
      mask_and_softmax(group.mask, visible, group.keys, weights.row(i).data());
    } else {
      masked_weights(mask, i, weights.row(i).data());
    }
  }
  Eigen::Map<Matrix, 0, Eigen::OuterStride<>> output(rows.output, group.queries, shape.head_dim,
                                                     Eigen::OuterStride<>(rows.output_stride));
  AttentionHead view{
      shape.kind,
      shape.layer,
      head,
      group.sentence,
      shape.scale,
      {rows.query, group.queries, shape.head_dim, Eigen::OuterStride<>(rows.query_stride)},
      key,
      value,
      scores,
      mask,
      weights,
      output};
  observer.weights_ready(view);
  SeenKeys seen;
  for (Index i = 0; i < group.queries; ++i) {
    if (plain) {
      sum_values(group, rows, i, weights.row(i).data(), seen);
    } else {
      sum_unmasked(rows, mask, i, weights.row(i).data(), seen);
    }
  }
  observer.output_ready(view);
}

}  // namespace

void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer) {
  const Index heads = shape.heads;
  if (observer != nullptr) {
    for (const AttentionGroup& group : input.groups) {
      for (Index head = 0; head < heads; ++head) {
        const HeadRows rows = rows_of_head(shape, input, group, head, output);
        run_observed_head(shape, group, rows, head, *observer);
      }
    }
    return;
  }
  const auto tasks = std::ssize(input.groups) * heads;
  parallel_for(tasks, 2 * pairs_of(input.groups) * shape.head_dim * heads, [&](Index task) {
    const AttentionGroup& group = at(input.groups, task / heads);
    const HeadRows rows = rows_of_head(shape, input, group, task % heads, output);
    if (sees_all(shape, group)) {
      run_head(shape, group, rows);
    } else {
      run_masked_head(shape, group, rows, task % heads);
    }
  });
}

namespace {

WeightProduct side_by_side_product(const std::vector<Linear>& layers, Backend backend) {
  std::vector<Parameter> weights;
  std::vector<Parameter> biases;
  for (const Linear& layer : layers) {
    weights.push_back(layer.weight);
    if (layer.bias.data != nullptr) biases.push_back(layer.bias);
  }
  return {weights, biases, backend};
}

}  // namespace

void MultiHeadAttention::prepare_self(Backend backend) {
  query_key_value = side_by_side_product({query, key, value}, backend);
  output_product = output.prepare(backend);
}

void MultiHeadAttention::prepare_cross(Backend backend) {
  prepare_global(backend);
  output_product = output.prepare(backend);
}

void MultiHeadAttention::prepare_global(Backend backend) {
  query_alone = query.prepare(backend);
  key_value = side_by_side_product({key, value}, backend);
}

}  // namespace attn
