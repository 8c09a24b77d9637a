// Attention: every query compares itself with the keys it may see and takes the weighted mean of
// their values.
//
//                               ( Q Kᵀ           )
//   Attention(Q, K, V) = softmax( ─────── + mask ) V          (Vaswani et al. 2017, equation 1)
//                               ( √head_dim      )
//
// This file has the data types of attention and the formula for the rows of one head
// (attend_rows()). multi_head_attention.h runs it for all heads and sentences. The same code serves
// three sites, which differ in where queries and keys come from and in the mask:
//
//   encoder self-attention   queries and keys: the source sentence            padding
//   decoder self-attention   queries and keys: the target so far              causal, padding
//   cross-attention          queries: the target; keys: the encoded source    padding
//
// A sparse pattern (key_ranges.h) skips most keys of long sentences. A relative position bias
// (relative_position_bias.h) is added to the scores.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/at.h"
#include "compute/buffer.h"
#include "compute/kernels/kernels.h"
#include "compute/matmul.h"
#include "config/parameter_part.h"
#include "config/patterns/attention_pattern.h"
#include "nn/attention/attention_observer.h"
#include "nn/attention/relative_position_bias.h"
#include "nn/dropout.h"

namespace attn {

/// The keys that a query must not see. Both masks can apply at once.
struct AttentionMask {
  /// Query i of n sees only the first (keys − n + i + 1) keys: all of them for one query after
  /// many cached keys, the lower triangle for as many queries as keys. Training sets it in
  /// model/training/trainable_stacks.cpp. Applied by visible_keys() in forward passes, by its
  /// inverse in backward_keys() (multi_head_attention.cpp), and for tiles by QueryTileBuilder and
  /// mask_block(). Performer (CausalTileMask) and the Sparse Transformer read it themselves. If you
  /// change one, change all.
  bool causal = false;
  /// A nonzero key_padding_mask[j] hides key j, which is padding. Empty: no padding.
  std::span<const std::uint8_t> key_padding_mask = {};
};

/// The queries of one sentence and the keys they may see. Rows count from the start of the matrices
/// that attend() receives.
struct AttentionGroup {
  Index sentence = 0;
  Index first_query = 0;
  Index queries = 0;
  Index first_key = 0;
  Index keys = 0;
  const std::int32_t* key_rows = nullptr;  ///< cache rows of the keys; null: consecutive rows
  AttentionMask mask;
  /// Positions of global tokens in the sentence, in ascending order, for patterns that have them.
  std::span<const Index> globals = {};
  /// Rows before the first block of the pattern "chunks". They are global tokens.
  Index origin = 0;
};

/// Keys and values of all heads: row j of each is at base + j · stride. A row has I columns, or
/// fewer if heads share keys and values.
struct KeysAndValues {
  const float* keys = nullptr;
  const float* values = nullptr;
  Index stride = 0;
};

/// Splits rows [S, 2D] that hold a key followed by its value.
inline KeysAndValues keys_and_values(const ConstMatrixRef& rows) {
  return {rows.data(), rows.data() + rows.cols() / 2, rows.outerStride()};
}

/// The settings of one attention layer.
struct AttentionShape {
  AttentionSite site = AttentionSite::encoder_self;
  Index layer = 0;
  Index heads = 1;
  Index head_dim = 0;                         ///< K
  float scale = 1.0F;                         ///< 1/√K, or 1 for Luong's unscaled dot product
  const AttentionPattern* pattern = nullptr;  ///< null: full attention
  const RelativePositionBias* relative_bias = nullptr;  ///< null: scores have no bias
  Index queries_per_kv_head = 1;  ///< query heads that share one head's keys and values
                                  ///< (Shazeer 2019, Ainslie et al. 2023)

  Index key_heads() const { return heads / queries_per_kv_head; }
  Index inner() const { return heads * head_dim; }  ///< columns of all heads, I
  Index key_columns() const { return key_heads() * head_dim; }
  /// The first column of a head's keys and values.
  Index key_column(Index head) const { return head / queries_per_kv_head * head_dim; }
};

/// The separate projections of global tokens (LED): the query of a global row is the same row of
/// `queries`, and it attends to these keys and values.
struct GlobalProjections {
  ConstMatrixRef queries;  ///< [T, D]; other rows are not read
  KeysAndValues memory;
};

/// Parameters that some patterns and position encodings add to the projections.
struct ExtraAttentionParameters {
  Parameter key_projection;    ///< [P, k] linformer's E, for P positions
  Parameter value_projection;  ///< [P, k] linformer's F
  Parameter features;          ///< [m, K] performer
  Parameter rotations;         ///< [H · K, rounds · buckets / 2] lsh: K consecutive rows per head
  Parameter relative_bias = {};  ///< [buckets, H] the layer's own relative position bias (UMT5)
};

/// Returns the parameter of this part, or null if `extras` has none. `Extras` may be const.
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

/// The input of attention: queries, keys and values of all heads, and the groups that relate them.
struct AttentionInput {
  ConstMatrixRef queries;  ///< [T, I], I = heads · head_dim
  KeysAndValues memory;
  std::span<const AttentionGroup> groups;
  const GlobalProjections* global = nullptr;  ///< null: global rows use the common projections
  const ExtraAttentionParameters* extras = nullptr;  ///< for the patterns that have any
};

/// The data that the backward pass needs from the forward pass. Groups that are not processed in
/// tiles keep the softmax output of each head; tiled groups keep one log-sum-exp per row.
struct SavedForBackward {
  AlignedFloats weights;          ///< group after group: [heads, queries, keys]
  std::vector<float> log_sums;    ///< group after group: [heads, queries]
  std::vector<Index> first;       ///< number of each group's first weight, for dropout
  std::vector<Index> offset;      ///< start of each group in `weights` or `log_sums`
  std::vector<float> row_sums;    ///< scratch of the forward pass
  const float* output = nullptr;  ///< the forward pass's output; must still exist in backward
  Index output_stride = 0;
  Dropout dropout;
  ActivationBuffer low_rank;                    ///< linformer: [B · k, 2D] keys and values
  std::vector<AttentionGroup> low_rank_groups;  ///< linformer: groups over those rows
};

/// Destination of the gradients of GlobalProjections. Rows of other tokens become 0.
struct GlobalGradient {
  MatrixRef dqueries;  ///< [T, D]
  float* dkeys = nullptr;
  float* dvalues = nullptr;
  Index stride = 0;
};

/// Destination of the gradients with respect to queries, keys and values of all heads.
struct AttentionInputGradient {
  MatrixRef dqueries;      ///< [T, D]
  float* dkeys = nullptr;  ///< same rows as in KeysAndValues
  float* dvalues = nullptr;
  Index stride = 0;                        ///< of dkeys and dvalues
  const GlobalGradient* global = nullptr;  ///< if the input has projections of global tokens
  /// Gradients to add to: linformer's, and the relative position bias's (of the layer or stack).
  const ExtraAttentionParameters* extras = nullptr;
};

/// Splits dkeys_values [S, 2D], which holds a key's gradient followed by its value's.
inline AttentionInputGradient input_gradient(MatrixRef dqueries, MatrixRef dkeys_values) {
  return {dqueries,
          dkeys_values.data(),
          dkeys_values.data() + dkeys_values.cols() / 2,
          dkeys_values.outerStride(),
          nullptr,
          nullptr};
}

// One head of one group, row by row.

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

/// Returns the number of query-key pairs in all groups. A head's scores take that many
/// multiply-adds per column.
inline Index query_key_pairs(std::span<const AttentionGroup> groups) {
  Index pairs = 0;
  for (const AttentionGroup& group : groups) pairs += group.queries * group.keys;
  return pairs;
}

/// Returns how many of the first keys query i may see under the causal mask.
inline Index visible_keys(const AttentionGroup& group, Index i) {
  if (!group.mask.causal) return group.keys;
  return std::clamp<Index>(group.keys - group.queries + i + 1, 0, group.keys);
}

/// Some consecutive queries of a group.
struct QueryRange {
  Index first = 0;
  Index end = 0;

  Index count() const { return end - first; }
};

/// The rows of one head of one group: pointers to the head's block of columns.
struct HeadRows {
  const float* query;  ///< the group's first query
  Index query_stride;
  GatheredRows keys;
  GatheredRows values;
  float* output;
  Index output_stride;
  Index head_dim;
  const float* relative_bias;  ///< bias of the first query's scores by key; that of each later
                               ///< query begins one float earlier. Null: none
};

/// One head of one group.
struct HeadOfGroup {
  const AttentionShape& shape;
  const AttentionInput& input;
  const AttentionGroup& group;
  Index head;
};

/// Returns a head's rows. `for_global_tokens` selects the separate projections, if there are any.
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

/// Computes the scores of query i and the first n keys: query · key · scale + relative bias.
void score_row(const AttentionShape& shape, const HeadRows& rows, Index i, Index n, float* scores);

/// Computes weighted sums over a subset of values. Values outside the subset are skipped, not
/// multiplied by 0, because 0 · ∞ is NaN.
class VisibleValues {
 public:
  /// Selects the keys j in [0, n) for which seen(j) is true, with their weights.
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
  /// Computes out = Σ weight · value.
  void sum(const GatheredRows& values, Index width, float* out) const {
    kernels().weighted_sums(weights_.data(), {values.base, values.stride, rows_.data()},
                            std::ssize(weights_), width, {out});
  }

 private:
  std::vector<float> weights_;
  std::vector<std::int32_t> rows_;
};

/// The dropout of a head's rows in training, and where its weights are saved. Translation leaves
/// it empty.
struct HeadTraining {
  Dropout dropout = {};       ///< applies to the weights before they multiply the values
  Index first_weight = 0;     ///< number of the head's first weight, for dropout
  float* weights = nullptr;   ///< [queries, keys] receives softmax's output
  float* log_sums = nullptr;  ///< [queries] receives ln Σ exp(score)
};

/// One head of one group, with its training data.
struct HeadTask {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;
  HeadTraining training;
};

/// Computes the formula for some queries of a head, without tiles. A query that sees no key gets
/// zeros.
void attend_rows(const HeadTask& head, const QueryRange& queries);

}  // namespace attn
