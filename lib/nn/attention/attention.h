// Attention: every query looks at all keys it may see and takes a weighted mean of their values.
//
//                               ( Q Kᵀ           )
//   Attention(Q, K, V) = softmax( ─────── + mask ) V          (Vaswani et al. 2017, equation 1)
//                               ( √head_dim      )
//
// Multi-head attention (section 3.2.2) does this H times side by side. The input is projected to Q,
// K and V of d_model columns each; head h owns the column block [h·K, (h+1)·K) of all three, with
// K = head_dim = d_model / H. The heads' outputs stand in the same blocks of one [T, D] matrix, so
// "concatenating" them moves nothing, and one more projection mixes them.
//
//   x [T, D] ──· W_qkv + b──► [Q | K | V] [T, 3D] ──per sentence, per head──► [T, D] ──· W_o + b──►
//   [T, D]
//
// The same code runs in three places, which differ only in where queries and keys come from and in
// the mask:
//
//   encoder self-attention   queries and keys: the source sentence      no mask
//   decoder self-attention   queries and keys: the target so far        causal: never look ahead
//   cross-attention          queries: the target; keys: the encoded source   no mask
//
// A pattern (key_ranges.h) leaves out most keys of long sentences. Relative positions add a bias to
// the scores (distance_bias.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/at.h"
#include "compute/kernels/kernels.h"
#include "compute/matmul.h"
#include "config/parameter_part.h"
#include "config/patterns/attention_pattern.h"
#include "nn/attention/attention_observer.h"
#include "nn/attention/key_ranges.h"
#include "nn/attention/relative_position_bias.h"
#include "nn/linear.h"

namespace attn {

class RelativePositionBias;

/// What a query may not look at. Both may hold at once.
struct AttentionMask {
  /// Query i of n looks at the first (keys − n + i + 1) keys only. With one query after many
  /// cached keys that is all of them; with as many queries as keys it is the lower triangle.
  bool causal = false;
  /// hidden[j] ≠ 0: key j is padding and nobody looks at it. Empty: no padding.
  std::span<const std::uint8_t> key_padding_mask = {};
};

/// The queries of one sentence and the keys they may look at. Rows count from the start of the
/// matrices that attend() is given.
struct AttentionGroup {
  Index sentence = 0;
  Index first_query = 0;
  Index queries = 0;
  Index first_key = 0;
  Index keys = 0;
  const std::int32_t* key_rows = nullptr;  ///< rows of the keys in a cache; null: one after another
  AttentionMask mask;
  /// Places of global tokens in the sentence, rising; for the patterns that have them.
  std::span<const Index> globals = {};
  /// Rows before the first block of the pattern chunks; they are global tokens themselves.
  Index origin = 0;
};

/// Keys and values of all heads, row j of each at base + j · stride, D columns wide, or fewer where
/// heads share them.
struct KeysAndValues {
  const float* keys = nullptr;
  const float* values = nullptr;
  Index stride = 0;
};

/// Of rows [S, 2D] that hold a key and then its value.
inline KeysAndValues keys_and_values(const ConstMatrixRef& rows) {
  return {rows.data(), rows.data() + rows.cols() / 2, rows.outerStride()};
}

/// The numbers that one attention layer runs with.
struct AttentionShape {
  AttentionSite site = AttentionSite::encoder_self;
  Index layer = 0;
  Index heads = 1;
  Index head_dim = 0;                         ///< K
  float scale = 1.0F;                         ///< 1/√K, or 1 for Luong's unscaled dot product
  const AttentionPattern* pattern = nullptr;  ///< null: full
  const RelativePositionBias* relative_bias = nullptr;  ///< null: scores have no bias
  Index queries_per_kv_head = 1;  ///< heads that read one head's keys and values (Shazeer 2019,
                                  ///< Ainslie et al. 2023)

  Index key_heads() const { return heads / queries_per_kv_head; }
  Index inner() const { return heads * head_dim; }  ///< columns of all heads, I
  Index key_columns() const { return key_heads() * head_dim; }
  /// Where the keys and values of a head begin among theirs.
  Index key_column(Index head) const { return head / queries_per_kv_head * head_dim; }
};

/// Projections that global tokens have for themselves (LED): a global row's query is the row of
/// `queries` with its number, and it looks at these keys and values.
struct GlobalProjections {
  ConstMatrixRef queries;  ///< [T, D]; other rows are not read
  KeysAndValues memory;
};

/// What kinds of attention have besides their projections.
struct ExtraAttentionParameters {
  Parameter key_projection;      ///< [P, k] linformer's E, for P places
  Parameter value_projection;    ///< [P, k] linformer's F
  Parameter features;            ///< [m, K] performer
  Parameter rotations;           ///< [H · K, rounds · buckets / 2] lsh: a head's K rows together
  Parameter relative_bias = {};  ///< [buckets, H] biases of relative positions, the layer's own
                                 ///< (UMT5)
};

/// The one of these that the table calls so; null: it is none of them. `Extras` is const or not.
template <typename Extras>
auto* extra_parameter(Extras& extras, ParameterPart part) {
  switch (part) {
    case ParameterPart::self_key_projection:
      return &extras.key_projection;
    case ParameterPart::self_value_projection:
      return &extras.value_projection;
    case ParameterPart::self_features:
      return &extras.features;
    case ParameterPart::self_rotations:
      return &extras.rotations;
    case ParameterPart::self_relative_bias:
      return &extras.relative_bias;
    default:
      return static_cast<decltype(&extras.features)>(nullptr);
  }
}

/// What attention reads: queries of all heads, keys and values of all heads, and who looks at whom.
struct AttentionInput {
  ConstMatrixRef queries;  ///< [T, D]
  KeysAndValues memory;
  std::span<const AttentionGroup> groups;
  const GlobalProjections* global = nullptr;         ///< null: global rows read as the others do
  const ExtraAttentionParameters* extras = nullptr;  ///< for the kinds that have any
};

/// The formula at the top for every group and head. Output [T, D]: the heads' outputs stand side by
/// side in the columns. A query that may look at nothing gets zeros. Masked keys contribute
/// nothing, whatever their values are, and so with an observer and without (null: nobody watches).
void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer);

/// The parameters of one multi-head attention, and the products prepared from them.
struct MultiHeadAttention {
  Linear query;   ///< weight [D, D], bias [D]; [D, I] where head_dim is free
  Linear key;     ///< weight [D, D], bias [D]; lsh: none, keys are the queries; where heads share
                  ///< keys and values, fewer columns of both
  Linear value;   ///< weight [D, D], bias [D]
  Linear output;  ///< weight [D, D], bias [D]
  ExtraAttentionParameters extras;

  PackedLinear qkv_projection;     ///< [D, 3D], for self-attention
  PackedLinear query_projection;   ///< [D, D], for cross-attention and global tokens, whose
  PackedLinear kv_projection;      ///< [D, 2D] reads the encoder's output once a sentence
  PackedLinear output_projection;  ///< [D, D]

  void prepare_self(PreparationOptions how);
  void prepare_key_value(PreparationOptions how);  ///< kv_projection
  void prepare_global(PreparationOptions how);     ///< kv_projection and query_projection
  void prepare_cross(PreparationOptions how);      ///< what each step needs besides
};

// One head at work, row by row: what the forward passes of attention.cpp and attention_training.cpp
// share.

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
inline HeadRows head_rows(const HeadOfGroup& of, MatrixRef& output,
                          bool for_global_tokens = false) {
  const auto& [shape, input, group, head] = of;
  const bool own = for_global_tokens && input.global != nullptr;
  const ConstMatrixRef& queries = own ? input.global->queries : input.queries;
  const KeysAndValues& memory = own ? input.global->memory : input.memory;
  const Index column = head * shape.head_dim;
  const Index first_key = group.first_key * memory.stride + shape.key_column(head);
  return {queries.data() + group.first_query * queries.outerStride() + column,
          queries.outerStride(),
          {memory.keys + first_key, memory.stride, group.key_rows},
          {memory.values + first_key, memory.stride, group.key_rows},
          output.data() + group.first_query * output.outerStride() + column,
          output.outerStride(),
          shape.head_dim,
          shape.relative_bias != nullptr ? shape.relative_bias->of(head, group.keys - group.queries)
                                         : nullptr};
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
    if (rows.relative_bias != nullptr)
      kernels().add(rows.relative_bias - queries.first - r, row, n);
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
