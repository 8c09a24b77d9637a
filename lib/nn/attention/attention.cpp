#include "nn/attention/attention.h"

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/exact_attention.h"
#include "nn/attention/observed_head.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

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

void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer) {
  attention_for(shape).attend(shape, input, output, observer);
}

void PatternAttention::attend(const AttentionShape& shape, const AttentionInput& input,
                              MatrixRef output, AttentionObserver* observer) const {
  attend_exactly(shape, input, output, nullptr);
  if (observer != nullptr) observe_heads(shape, input, output, *observer);
}

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

namespace {

struct RowScratch {
  std::vector<float> weights;  ///< [queries at a time, keys]; where training keeps these as they
                               ///< were before dropout, what they are after it
  VisibleValues seen;
};

/// Rows of a head that see the same keys: under a causal mask it is one row.
void attend_rows(const HeadTask& head, const QueryRange& queries, RowScratch& scratch) {
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

/// Asks for what a head will read. A batch's keys and values do not stay in the near caches from
/// one step of a search to the next, and each head would wait for its own.
void fetch_keys(const HeadRows& rows, Index keys) {
  constexpr Index kLine = 16;  // floats of a cache line
  for (Index j = 0; j < keys; ++j) {
    const Index row = rows.keys.rows != nullptr ? rows.keys.rows[j] : j;
    for (Index k = 0; k < rows.head_dim; k += kLine) {
      __builtin_prefetch(rows.keys.base + row * rows.keys.stride + k);
      __builtin_prefetch(rows.values.base + row * rows.values.stride + k);
    }
  }
  asm volatile("");  // GCC drops calls of a function that does nothing but this
}

/// Where one head's weights are kept, and what drops them.
HeadTraining training_of(const AttentionInput& input, SavedForBackward& saved, Index group,
                         Index head) {
  const AttentionGroup& of = at(input.groups, group);
  const Index in_group = head * of.queries * of.keys;
  return {saved.dropout, at(saved.first, group) + in_group,
          saved.weights.data() + at(saved.offset, group) + in_group};
}

/// The groups that go through tiles.
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

}  // namespace

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

void attend_rows(const HeadTask& head, const QueryRange& queries) {
  auto& scratch = thread_instance<RowScratch>();
  constexpr Index kTogether = 8;
  const Index together = head.group.mask.causal ? 1 : std::min(queries.count(), kTogether);
  const std::size_t cells = to_size(together * head.group.keys);
  if (scratch.weights.size() < cells) scratch.weights.resize(cells);
  for (Index i = queries.first; i < queries.end; i += together) {
    attend_rows(head, {i, std::min(i + together, queries.end)}, scratch);
  }
}

TileDropout dropout_of_head(const AttentionInput& input, const SavedForBackward& saved, Index group,
                            Index head) {
  const AttentionGroup& rows = at(input.groups, group);
  return {saved.dropout, at(saved.first, group) + head * rows.queries * rows.keys, true};
}

}  // namespace attn
