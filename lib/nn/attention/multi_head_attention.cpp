#include "nn/attention/multi_head_attention.h"

#include <algorithm>
#include <stdexcept>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/guided_alignment.h"
#include "nn/attention/observed_head.h"
#include "nn/attention/patterns/pattern_attention.h"
#include "nn/attention/tiled_attention.h"

namespace attn {

// --- projections ---------------------------------------------------------------------------------

namespace {

/// Packs the weights of several layers as one matrix, with their column blocks side by side.
PackedLinear packed_side_by_side(const std::vector<Linear>& layers, PreparationOptions how) {
  std::vector<Parameter> weights;
  std::vector<Parameter> biases;
  for (const Linear& layer : layers) {
    weights.push_back(layer.weight);
    if (layer.bias.data != nullptr) biases.push_back(layer.bias);
  }
  return {weights, biases, how};
}

}  // namespace

void MultiHeadAttention::prepare_self(PreparationOptions how) {
  const Linear& keys = key.weight.exists() ? key : query;
  qkv_projection = packed_side_by_side({query, keys, value}, how);
  output_projection = output.prepare(how);
}

void MultiHeadAttention::prepare_key_value(PreparationOptions how) {
  kv_projection = packed_side_by_side({key, value}, how);
}

void MultiHeadAttention::prepare_global(PreparationOptions how) {
  query_projection = query.prepare(how);
  prepare_key_value(how);
}

void MultiHeadAttention::prepare_cross(PreparationOptions how) {
  query_projection = query.prepare(how);
  output_projection = output.prepare(how);
}

// --- forward -------------------------------------------------------------------------------------

namespace {

/// Prefetches the keys and values that a head will read. The keys and values of a whole batch do
/// not stay in the nearest caches from one search step to the next, so each head would wait for
/// memory.
void fetch_keys(const HeadRows& rows, Index keys) {
  constexpr Index kLine = 16;  // floats per cache line
  for (Index j = 0; j < keys; ++j) {
    const Index row = rows.keys.rows != nullptr ? rows.keys.rows[j] : j;
    for (Index k = 0; k < rows.head_dim; k += kLine) {
      __builtin_prefetch(rows.keys.base + row * rows.keys.stride + k);
      __builtin_prefetch(rows.values.base + row * rows.values.stride + k);
    }
  }
  asm volatile("");  // keeps GCC from dropping calls of a function that only prefetches
}

/// Returns where one head's weights are saved, and its dropout.
HeadTraining training_of(const AttentionInput& input, SavedForBackward& saved, Index group,
                         Index head) {
  const AttentionGroup& of = at(input.groups, group);
  const Index in_group = head * of.queries * of.keys;
  return {saved.dropout, at(saved.first, group) + in_group,
          saved.weights.data() + at(saved.offset, group) + in_group};
}

/// Computes attention for the groups that are processed in tiles.
void attend_tiles(const AttentionShape& shape, const AttentionInput& input, MatrixRef& output,
                  SavedForBackward* saved) {
  const TileTasks work(shape, input.groups);
  if (work.sums == 0) return;
  std::vector<float> memory;
  RowSums sums;
  if (saved != nullptr) {
    sums = {saved->log_sums.data(), saved->row_sums.data()};
  } else {
    memory.resize(to_size(2 * work.sums));
    sums = {memory.data(), memory.data() + work.sums};
  }
  work.for_each([&](const TileTask& task) {
    TileDropout dropout;
    if (saved != nullptr) dropout = dropout_of_head(input, *saved, task.group, task.head);
    attend_tile(shape, input, task, {sums, dropout}, output);
  });
}

/// Computes exact attention for every group and head. `saved` has room for what training saves of
/// the pass; it is null when translating.
void attend_exactly(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                    SavedForBackward* saved) {
  attend_tiles(shape, input, output, saved);
  const Index heads = shape.heads;
  const auto tasks = std::ssize(input.groups) * heads;
  parallel_for(tasks, 2 * query_key_pairs(input.groups) * shape.head_dim * heads, [&](Index task) {
    const Index number = task / heads, head = task % heads;
    const AttentionGroup& group = at(input.groups, number);
    if (is_tiled(shape, group)) return;
    if (saved == nullptr && task + heads < tasks) {
      const AttentionGroup& next = at(input.groups, number + 1);
      if (!is_tiled(shape, next)) {
        fetch_keys(head_rows({shape, input, next, head}, output), next.keys);
      }
    }
    attend_rows({shape, group, head_rows({shape, input, group, head}, output),
                 saved != nullptr ? training_of(input, *saved, number, head) : HeadTraining()},
                {0, group.queries});
  });
}

/// Makes room for the data that all groups save, and records where each group's part begins.
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

void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer) {
  if (const PatternAttention* approximation = approximation_for(shape)) {
    approximation->attend(shape, input, output, observer);
    return;
  }
  attend_exactly(shape, input, output, nullptr);
  if (observer != nullptr) observe_heads(shape, input, output, *observer);
}

void attend_training(const AttentionShape& shape, const AttentionInput& input,
                     const Dropout& dropout, MatrixRef output, SavedForBackward& saved) {
  saved.dropout = dropout;
  saved.output = output.data();
  saved.output_stride = output.outerStride();
  if (const PatternAttention* approximation = approximation_for(shape)) {
    approximation->attend_training(shape, input, output, saved);
    return;
  }
  make_room(shape, input.groups, saved);
  attend_exactly(shape, input, output, &saved);
}

// --- backward ------------------------------------------------------------------------------------

namespace {

/// Number of queries whose weights are transposed together. With more, the writes would be too far
/// apart.
constexpr Index kQueriesAtOnce = 512;

/// Scratch of one thread for one head of one group.
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

/// Pointers to the first rows of one head's gradients, for one group.
struct HeadGradient {
  const float* doutput;
  Index doutput_stride;
  float* dquery;
  Index dquery_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;
};

/// Runs the backward pass of one head of one group.
struct HeadBackward {
  const AttentionShape& shape;
  const AttentionGroup& group;
  HeadRows rows;
  HeadGradient gradient;
  const float* weights;   ///< [queries, keys]
  const float* dweights;  ///< [queries, keys] the gradient that the loss itself adds at the
                          ///< weights; null: none
  Index first_weight;     ///< number of the first weight, for dropout
  RelativePositionBiasGradient& relative_bias;
  Index task;  ///< the task whose sums `relative_bias` updates
};

/// Computes dQ, and the transposed weights and score gradients that backward_keys() reads.
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
    if (head.dweights != nullptr) k.add(head.dweights + i * head.group.keys, row, visible);
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

/// Computes dK and dV. The gradients of each key are summed over the queries that saw it.
void backward_keys(const HeadBackward& head, const QueryRange& queries, Scratch& scratch) {
  const AttentionGroup& group = head.group;
  const HeadGradient& gradient = head.gradient;
  const Index head_dim = head.shape.head_dim;
  for (Index j = 0; j < group.keys; ++j) {
    // The inverse of visible_keys(): the first query that sees key j.
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

void attend_exactly_backward(const AttentionShape& shape, const AttentionInput& input,
                             const SavedForBackward& saved, const GradientWithWeights& from,
                             AttentionInputGradient gradient) {
  const ConstMatrixRef& doutput = from.doutput;
  const std::span<const float> dweights = from.dweights;
  const Index heads = shape.heads;
  const auto tasks = std::ssize(input.groups) * heads;
  const bool has_bias_gradient =
      gradient.extras != nullptr && gradient.extras->relative_bias.exists();
  RelativePositionBiasGradient relative_bias(has_bias_gradient ? shape.relative_bias : nullptr,
                                             tasks);
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
    // The output for these rows is dqueries.
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
                            dweights.empty() ? nullptr : &at(dweights, saved.offset[g] + in_group),
                            saved.first[g] + in_group,
                            relative_bias,
                            task};
    auto& scratch = thread_instance<Scratch>();
    scratch.reserve(group.queries, group.keys, shape.head_dim);
    QueryRange queries;
    do {  // runs at least once, even without queries, to set the keys' gradients to 0
      queries = {queries.end, std::min(queries.end + kQueriesAtOnce, group.queries)};
      backward_queries(head, queries, saved.dropout, scratch);
      backward_keys(head, queries, scratch);
    } while (queries.end < group.queries);
  });
  if (relative_bias.wanted()) relative_bias.add_to(gradient.extras->relative_bias, shape.scale);
}

}  // namespace

void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                     const SavedForBackward& saved, const ConstMatrixRef& doutput,
                     AttentionInputGradient gradient) {
  if (const PatternAttention* approximation = approximation_for(shape)) {
    approximation->attend_backward(shape, input, saved, doutput, gradient);
  } else {
    attend_exactly_backward(shape, input, saved, {doutput, {}}, gradient);
  }
}

void attend_backward_with_weights(const AttentionShape& shape, const AttentionInput& input,
                                  const SavedForBackward& saved, const GradientWithWeights& from,
                                  AttentionInputGradient gradient) {
  attend_exactly_backward(shape, input, saved, from, gradient);
}

}  // namespace attn
