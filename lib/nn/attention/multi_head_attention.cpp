// The formulas stand in the header; here every product is a row at a time, as in attention.cpp.
#include "nn/attention/multi_head_attention.h"

#include <algorithm>
#include <stdexcept>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention.h"
#include "nn/attention/exact_attention.h"
#include "nn/attention/patterns/pattern_attention.h"
#include "nn/attention/tiled_attention.h"

namespace attn {
namespace {

/// Queries whose weights stand transposed at a time: more would be written too far apart.
constexpr Index kQueriesAtOnce = 512;

/// Memory of one thread for one head of one group.
struct Scratch {
  std::vector<float> row;      ///< [max(keys, K)]
  std::vector<float> dropped;  ///< [keys, queries at once] weights after dropout, transposed
  std::vector<float> dscores;  ///< [keys, queries at once] gradient at the scores, transposed

  void reserve(Index queries, Index keys, Index head_dim) {
    const auto cells = to_size(std::min(queries, kQueriesAtOnce) * keys);
    const auto longest = to_size(std::max(keys, head_dim));
    if (row.size() < longest) row.resize(longest);
    if (dropped.size() < cells) dropped.resize(cells);
    if (dscores.size() < cells) dscores.resize(cells);
  }
};

/// Where the rows of one head's gradients begin, for one group.
struct HeadGradient {
  const float* doutput;
  Index doutput_stride;
  float* dquery;
  Index dquery_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;
};

/// One head of one group on its way back.
struct HeadBackward {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;
  HeadGradient gradient;
  const float* weights;  ///< [queries, keys]
  Index first_weight;    ///< number of the first of them, for dropout
  RelativePositionBiasGradient& relative_bias;
  Index task;  ///< of those sums
};

/// dQ, and the transposed weights and score gradients from which dK and dV follow.
void backward_queries(const HeadBackward& head, const QueryRange& queries, const Dropout& dropout,
                      Scratch& scratch) {
  const Kernels& k = kernels();
  const Index head_dim = head.shape.head_dim;
  const HeadGradient& gradient = head.gradient;
  for (Index i = queries.first; i < queries.end; ++i) {
    const Index visible = visible_keys(head.group, i);
    const float* p = head.weights + i * head.group.keys;
    const Index first_number = head.first_weight + i * head.group.keys;
    float* row = scratch.row.data();
    std::copy(p, p + visible, row);
    dropout.apply(row, visible, first_number);
    for (Index j = 0; j < visible; ++j) {
      at(scratch.dropped, j * queries.count() + i - queries.first) = row[j];
    }
    k.dot_products(gradient.doutput + i * gradient.doutput_stride, head.rows.values, visible,
                   head_dim, {row});
    dropout.apply(row, visible, first_number);
    k.softmax_backward(p, head.shape.scale, row, visible);
    if (head.relative_bias.wanted()) {
      head.relative_bias.add(head.task, head.group.keys - head.group.queries + i,
                             {row, to_size(visible)}, [](Index j) { return j; });
    }
    for (Index j = 0; j < visible; ++j) {
      at(scratch.dscores, j * queries.count() + i - queries.first) = row[j];
    }
    k.weighted_sums(row, head.rows.keys, visible, head_dim,
                    {gradient.dquery + i * gradient.dquery_stride});
  }
}

/// dK and dV: each key gathers from those of the queries that saw it.
void backward_keys(const HeadBackward& head, const QueryRange& queries, Scratch& scratch) {
  const AttentionGroup& group = head.group;
  const HeadGradient& gradient = head.gradient;
  const Index head_dim = head.shape.head_dim;
  for (Index j = 0; j < group.keys; ++j) {
    const Index sees = group.mask.causal ? j - (group.keys - group.queries) : 0;
    const Index first = std::clamp(sees, queries.first, queries.end);
    const auto column = to_size(j * queries.count() + first - queries.first);
    const auto gather = [&](const std::vector<float>& weights, const float* rows, Index stride,
                            float* to) {
      float* sum = queries.first == 0 ? to : scratch.row.data();
      kernels().weighted_sums(weights.data() + column, {rows + first * stride, stride, nullptr},
                              queries.end - first, head_dim, {sum});
      if (sum != to) kernels().add(sum, to, head_dim);
    };
    gather(scratch.dropped, gradient.doutput, gradient.doutput_stride,
           gradient.dvalues + j * gradient.dmemory_stride);
    gather(scratch.dscores, head.rows.query, head.rows.query_stride,
           gradient.dkeys + j * gradient.dmemory_stride);
  }
}

/// Room for what is kept of all groups, and where each group's begins.
void make_room(const AttentionShape& shape, std::span<const AttentionGroup> groups,
               SavedForBackward& saved) {
  saved.first.clear();
  saved.offset.clear();
  Index numbers = 0, weights = 0, sums = 0;
  for (const AttentionGroup& group : groups) {
    if (group.key_rows != nullptr) throw std::logic_error("training attends to rows in order");
    const bool tiled = is_tiled(shape, group);
    saved.first.push_back(numbers);
    saved.offset.push_back(tiled ? sums : weights);
    numbers += shape.heads * group.queries * group.keys;
    (tiled ? sums : weights) += shape.heads * group.queries * (tiled ? 1 : group.keys);
  }
  if (saved.weights.size() < to_size(weights)) {
    saved.weights = AlignedFloats();
    saved.weights = AlignedFloats(to_size(weights));
  }
  saved.log_sums.resize(to_size(sums));
  saved.row_sums.resize(to_size(sums));
}

}  // namespace

void attend_training(const AttentionShape& shape, const AttentionInput& input,
                     const Dropout& dropout, MatrixRef output, SavedForBackward& saved) {
  saved.dropout = dropout;
  saved.output = output.data();
  saved.output_stride = output.outerStride();
  attention_for(shape).attend_training(shape, input, output, saved);
}

void PatternAttention::attend_training(const AttentionShape& shape, const AttentionInput& input,
                                       MatrixRef output, SavedForBackward& saved) const {
  make_room(shape, input.groups, saved);
  attend_exactly(shape, input, output, &saved);
}

void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                     const SavedForBackward& saved, const ConstMatrixRef& doutput,
                     AttentionInputGradient gradient) {
  attention_for(shape).attend_backward(shape, input, saved, doutput, gradient);
}

void PatternAttention::attend_backward(const AttentionShape& shape, const AttentionInput& input,
                                       const SavedForBackward& saved, const ConstMatrixRef& doutput,
                                       AttentionInputGradient gradient) const {
  const Index heads = shape.heads;
  const auto tasks = std::ssize(input.groups) * heads;
  RelativePositionBiasGradient relative_bias(shape.relative_bias, tasks);
  parallel_for(tasks, 5 * query_key_pairs(input.groups) * shape.head_dim * heads, [&](Index task) {
    const auto g = to_size(task / heads);
    const AttentionGroup& group = input.groups[g];
    if (is_tiled(shape, group)) {
      const Index head = task % heads;
      attend_tiled_backward(
          shape, input,
          {to_index(g), head, saved.log_sums.data() + saved.offset[g] + head * group.queries,
           dropout_of_head(input, saved, to_index(g), head), relative_bias},
          {saved.output, saved.output_stride, doutput}, gradient);
      return;
    }
    const Index column = task % heads * shape.head_dim;
    // The head's rows have an output; here nothing is written through it.
    const HeadRows rows = head_rows({shape, input, group, task % heads}, gradient.dqueries);
    const Index first_key = group.first_key * gradient.stride + column;
    const HeadGradient rows_of_gradient{
        doutput.data() + group.first_query * doutput.outerStride() + column,
        doutput.outerStride(),
        rows.output,
        rows.output_stride,
        gradient.dkeys + first_key,
        gradient.dvalues + first_key,
        gradient.stride};
    const Index in_group = task % heads * group.queries * group.keys;
    const HeadBackward head{shape,
                            group,
                            rows,
                            rows_of_gradient,
                            saved.weights.data() + saved.offset[g] + in_group,
                            saved.first[g] + in_group,
                            relative_bias,
                            task};
    auto& scratch = thread_instance<Scratch>();
    scratch.reserve(group.queries, group.keys, shape.head_dim);
    QueryRange queries;
    do {  // once without a query, too: the keys' gradients are zeros then
      queries = {queries.end, std::min(queries.end + kQueriesAtOnce, group.queries)};
      backward_queries(head, queries, saved.dropout, scratch);
      backward_keys(head, queries, scratch);
    } while (queries.end < group.queries);
  });
  if (relative_bias.wanted()) relative_bias.add_to(gradient.extras->relative_bias, shape.scale);
}

}  // namespace attn
