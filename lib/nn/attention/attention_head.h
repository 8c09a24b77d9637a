// One head at work, row by row: what the forward passes of attention.cpp and attention_training.cpp
// share.
#pragma once

#include <algorithm>
#include <limits>

#include "base/at.h"
#include "nn/attention/attention.h"
#include "nn/attention/relative_position_bias.h"
#include "nn/attention/key_ranges.h"

namespace attn {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Pairs of a query and a key in all groups: multiply-adds of a head's scores, for each of its
/// columns.
inline Index query_key_pairs(std::span<const AttentionGroup> groups) {
  Index pairs = 0;
  for (const AttentionGroup& group : groups) pairs += group.queries * group.keys;
  return pairs;
}

/// How many keys from the first on query i may look at, by the causal mask.
inline Index visible_keys(const AttentionGroup& group, Index i) {
  if (!group.mask.causal) return group.keys;
  return std::clamp<Index>(group.keys - group.queries + i + 1, 0, group.keys);
}

/// Some of a group's queries.
struct QueryRange {
  Index first = 0;
  Index end = 0;

  Index count() const { return end - first; }
};

/// Where the rows of one head of one group begin: its block of columns.
struct HeadRows {
  const float* query;  ///< of the group's first query
  Index query_stride;
  GatheredRows keys;
  GatheredRows values;
  float* output;
  Index output_stride;
  Index head_dim;
  const float* relative_bias;  ///< what the first query adds to its scores by distance; the next
                           ///< query's begin one float before. Null: nothing
};

/// One head of one group.
struct HeadOfGroup {
  const AttentionShape& shape;
  const AttentionInput& input;
  const AttentionGroup& group;
  Index head;
};

/// `for_global_tokens`: what rows of global tokens read.
inline HeadRows head_rows(const HeadOfGroup& of, MatrixRef& output, bool for_global_tokens = false) {
  const auto& [shape, input, group, head] = of;
  const bool own = for_global_tokens && input.global != nullptr;
  const ConstMatrixRef& queries = own ? input.global->queries : input.queries;
  const KeysAndValues& memory = own ? input.global->memory : input.memory;
  const Index column = head * shape.head_dim;
  const Index first_key = group.first_key * memory.stride + shape.key_column(head);
  return {
      queries.data() + group.first_query * queries.outerStride() + column,
      queries.outerStride(),
      {memory.keys + first_key, memory.stride, group.key_rows},
      {memory.values + first_key, memory.stride, group.key_rows},
      output.data() + group.first_query * output.outerStride() + column,
      output.outerStride(),
      shape.head_dim,
      shape.relative_bias != nullptr ? shape.relative_bias->of(head, group.keys - group.queries) : nullptr};
}

/// Row i − queries.first of `scores`, column j = query_i · key_j · scale, and the bias of their
/// distance, for the first n keys.
inline void score_rows(const AttentionShape& shape, const HeadRows& rows, const QueryRange& queries,
                       Index n, const OutRows& scores) {
  kernels().dot_products(
      {rows.query + queries.first * rows.query_stride, rows.query_stride, queries.count()},
      rows.keys, n, shape.head_dim, scores);
  for (Index r = 0; r < queries.count(); ++r) {
    float* row = scores.first + r * scores.stride;
    for (Index j = 0; j < n; ++j) row[j] *= shape.scale;
    if (rows.relative_bias != nullptr) kernels().add(rows.relative_bias - queries.first - r, row, n);
  }
}

/// The same of query i alone.
inline void score_row(const AttentionShape& shape, const HeadRows& rows, Index i, Index n,
                      float* scores) {
  score_rows(shape, rows, {i, i + 1}, n, {scores, n});
}

/// In place: a query's masked scores to weights. Zeros where it may look at no key; NaN where it
/// may, and all those scores are below every float: they say nothing of its keys.
template <typename Shown>
void softmax_visible(float* row, Index keys, Shown&& shown) {
  kernels().softmax(row, keys);
  if (std::any_of(row, row + keys, [](float weight) { return weight != 0.0F; })) return;
  for (Index j = 0; j < keys; ++j) {
    if (shown(j)) row[j] = std::numeric_limits<float>::quiet_NaN();
  }
}

/// In place: scores of one query to weights. Keys from `visible` on get exactly 0.
inline void mask_and_softmax(const AttentionMask& mask, Index visible, Index keys, float* row) {
  const auto shown = [&](Index j) { return mask.key_padding_mask.empty() || at(mask.key_padding_mask, j) == 0; };
  if (!mask.key_padding_mask.empty()) {
    for (Index j = 0; j < visible; ++j) {
      if (!shown(j)) row[j] = kMinusInfinity;
    }
  }
  softmax_visible(row, visible, shown);
  std::fill(row + visible, row + keys, 0.0F);
}

/// The weighted sum of some of a row's values: those that are seen, and no 0 times the others.
class VisibleValues {
 public:
  /// Of keys [0, n) those for which seen(j) is true.
  template <typename Seen>
  void find(const float* weights, const GatheredRows& values, Index n, Seen&& seen) {
    weights_.clear();
    rows_.clear();
    for (Index j = 0; j < n; ++j) {
      if (!seen(j)) continue;
      weights_.push_back(weights[j]);
      rows_.push_back(values.rows != nullptr ? values.rows[j] : narrow_cast<std::int32_t>(j));
    }
  }
  /// out = Σ weight · value.
  void sum(const GatheredRows& values, Index width, float* out) const {
    kernels().weighted_sums(weights_.data(), {values.base, values.stride, rows_.data()},
                            std::ssize(weights_), width, {out});
  }

 private:
  std::vector<float> weights_;
  std::vector<std::int32_t> rows_;
};

/// Rows i, i + 1, … of the output = Σ weights[j] · value_j over the keys that these queries, all
/// the same ones, may look at. Masked keys are left out, not multiplied by 0: a value of ∞ there
/// would make NaN of it.
inline void sum_values(const AttentionGroup& group, const HeadRows& rows, Index i,
                       const RowBlock& weights, VisibleValues& seen) {
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

}  // namespace attn
