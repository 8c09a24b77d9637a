// The attention formula for the rows of one head, in order: scores, mask and softmax, weighted
// sum.
#include "nn/attention/attention.h"

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {
namespace {

/// Computes row i − queries.first of `scores`: column j = query_i · key_j · scale + relative
/// position bias, for the first n keys.
void score_rows(const AttentionShape& shape, const HeadRows& rows, const QueryRange& queries,
                Index n, const OutRows& scores) {
  kernels().dot_products(
      {rows.query + queries.first * rows.query_stride, rows.query_stride, queries.count()},
      rows.keys, n, shape.head_dim, scores);
  for (Index r = 0; r < queries.count(); ++r) {
    float* row = scores.first + r * scores.stride;
    for (Index j = 0; j < n; ++j) row[j] *= shape.scale;
    if (rows.relative_bias != nullptr)
      kernels().add(rows.relative_bias - queries.first - r, row, n);
  }
}

/// Turns a query's masked scores into weights, in place. If the query may see no key, its weights
/// are 0. If it may see keys and all their scores are −∞, its weights are NaN, because no key is
/// preferred.
template <typename Shown>
void softmax_visible(float* row, Index keys, Shown&& shown) {
  kernels().softmax(row, keys);
  if (std::any_of(row, row + keys, [](float weight) { return weight != 0.0F; })) return;
  for (Index j = 0; j < keys; ++j) {
    if (shown(j)) row[j] = std::numeric_limits<float>::quiet_NaN();
  }
}

/// Turns the scores of one query into weights, in place. Keys from `visible` on get exactly 0.
void mask_and_softmax(const AttentionMask& mask, Index visible, Index keys, float* row) {
  const auto shown = [&](Index j) {
    return mask.key_padding_mask.empty() || at(mask.key_padding_mask, j) == 0;
  };
  if (!mask.key_padding_mask.empty()) {
    for (Index j = 0; j < visible; ++j) {
      if (!shown(j)) row[j] = kMinusInfinity;
    }
  }
  softmax_visible(row, visible, shown);
  std::fill(row + visible, row + keys, 0.0F);
}

/// Sets the output rows i, i + 1, … to Σ weights[j] · value_j over the keys that these queries may
/// see. All of these queries see the same keys.
void sum_values(const AttentionGroup& group, const HeadRows& rows, Index i, const RowBlock& weights,
                VisibleValues& seen) {
  float* out = rows.output + i * rows.output_stride;
  const Index visible = visible_keys(group, i);
  const std::span<const std::uint8_t> key_padding_mask = group.mask.key_padding_mask;
  if (key_padding_mask.empty()) {
    kernels().weighted_sums(weights, rows.values, visible, rows.head_dim,
                            {out, rows.output_stride});
    return;
  }
  for (Index r = 0; r < weights.rows; ++r) {
    seen.find(weights.first + r * weights.stride, rows.values, visible,
              [&](Index j) { return at(key_padding_mask, j) == 0; });
    seen.sum(rows.values, rows.head_dim, out + r * rows.output_stride);
  }
}

struct RowScratch {
  std::vector<float> weights;  ///< [queries at a time, keys] weights; after dropout if training
                               ///< saves the weights from before dropout elsewhere
  VisibleValues seen;
};

/// Computes attention for queries that see the same keys. Under a causal mask that is one query.
void attend_rows_with_same_keys(const HeadTask& head, const QueryRange& queries,
                                RowScratch& scratch) {
  const auto& [shape, group, rows, training] = head;
  const Index visible = visible_keys(group, queries.first);
  const Index stride = training.weights != nullptr ? group.keys : visible;
  const Index cells = queries.count() * stride;
  float* weights = training.weights != nullptr ? training.weights + queries.first * stride
                                               : scratch.weights.data();
  score_rows(shape, rows, queries, visible, {weights, stride});
  for (Index i = queries.first; i < queries.end; ++i) {
    float* row = weights + (i - queries.first) * stride;
    if (training.log_sums != nullptr) {
      float log_sum = 0.0F;
      kernels().log_sum_exp(row, visible, training.log_sums + i, &log_sum);
      training.log_sums[i] += log_sum;
    }
    mask_and_softmax(group.mask, visible, stride, row);
  }
  if (training.dropout.active()) {
    if (training.weights != nullptr) {
      weights = std::copy_n(weights, cells, scratch.weights.data()) - cells;
    }
    for (Index i = queries.first; i < queries.end; ++i) {
      training.dropout.apply(weights + (i - queries.first) * stride, visible,
                             training.first_weight + i * group.keys);
    }
  }
  sum_values(group, rows, queries.first, {weights, stride, queries.count()}, scratch.seen);
}

}  // namespace

void score_row(const AttentionShape& shape, const HeadRows& rows, Index i, Index n, float* scores) {
  score_rows(shape, rows, {i, i + 1}, n, {scores, n});
}

void attend_rows(const HeadTask& head, const QueryRange& queries) {
  auto& scratch = thread_instance<RowScratch>();
  // Queries that see the same keys are processed together, so each loaded key serves all of them.
  // The beams of a sentence in cross-attention are such queries.
  constexpr Index kTogether = 8;
  const Index together = head.group.mask.causal ? 1 : std::min(queries.count(), kTogether);
  const std::size_t cells = to_size(together * head.group.keys);
  if (scratch.weights.size() < cells) scratch.weights.resize(cells);
  for (Index i = queries.first; i < queries.end; i += together) {
    attend_rows_with_same_keys(head, {i, std::min(i + together, queries.end)}, scratch);
  }
}

}  // namespace attn
