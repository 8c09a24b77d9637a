#include "nn/attention/attention.h"

#include <algorithm>

#include "base/at.h"
#include "compute/per_thread.h"
#include "nn/attention/attention_head.h"
#include "nn/attention/kinds/linformer.h"
#include "nn/attention/kinds/lsh.h"
#include "nn/attention/kinds/performer.h"
#include "nn/attention/observed_head.h"
#include "nn/attention/tiles/tiled_attention.h"

namespace attn {
namespace {

struct HeadScratch {
  std::vector<float> weights;  ///< [queries at a time, keys]
  SeenKeys seen;
};

/// The head's work without anybody watching, some queries at a time: a key that is loaded serves
/// all that see the same ones, as the beams of a sentence do in cross-attention.
void run_head(const AttentionShape& shape, const AttentionGroup& group, const HeadRows& rows) {
  constexpr Index kTogether = 8;
  auto& [memory, seen] = of_this_thread<HeadScratch>();
  const Index together = group.mask.causal ? 1 : std::min(group.queries, kTogether);
  memory.resize(std::max(memory.size(), to_size(together * group.keys)));
  float* weights = memory.data();
  for (Index i = 0; i < group.queries; i += together) {
    const Index count = std::min(together, group.queries - i);
    const Index visible = visible_keys(group, i);
    score_rows(shape, rows, i, count, visible, weights, visible);
    for (Index r = 0; r < count; ++r) {
      mask_and_softmax(group.mask, visible, visible, weights + r * visible);
    }
    sum_values(group, rows, i, {weights, visible, count}, seen);
  }
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

/// Two floats a row: the sums of a call's tiles.
RowSums row_sums(std::vector<float>& memory, Index rows) {
  memory.resize(to_size(2 * rows));
  return {memory.data(), memory.data() + rows};
}

/// The groups that go through tiles.
void attend_tiles(const AttentionShape& shape, const AttentionInput& input, const TiledWork& work,
                  MatrixRef& output) {
  std::vector<float> memory;
  const RowSums sums = row_sums(memory, work.sums);
  work.for_each([&](const TileTask& task) { attend_tile(shape, input, task, sums, {}, output); });
}

/// Exact attention, of all keys or of those that a pattern leaves.
void attend_exactly(const AttentionShape& shape, const AttentionInput& input, MatrixRef& output) {
  const Index heads = shape.heads;
  const TiledWork work(shape, input.groups);
  if (work.sums > 0) attend_tiles(shape, input, work, output);
  const auto tasks = std::ssize(input.groups) * heads;
  parallel_for(tasks, 2 * pairs_of(input.groups) * shape.head_dim * heads, [&](Index task) {
    const AttentionGroup& group = at(input.groups, task / heads);
    if (is_tiled(shape, group)) return;
    if (task + heads < tasks) {
      const AttentionGroup& next = at(input.groups, task / heads + 1);
      if (!is_tiled(shape, next)) {
        fetch_keys(rows_of_head(shape, input, next, task % heads, output), next.keys);
      }
    }
    run_head(shape, group, rows_of_head(shape, input, group, task % heads, output));
  });
}

WeightProduct side_by_side_product(const std::vector<Linear>& layers, Preparation how) {
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
  switch (type_of(shape)) {
    case PatternType::linformer:
      return attend_linformer(shape, input, output, observer);
    case PatternType::performer:
      return attend_performer(shape, input, output, observer);
    case PatternType::lsh:
      return attend_lsh(shape, input, output, observer);
    default:
      break;
  }
  attend_exactly(shape, input, output);
  if (observer != nullptr) show_heads(shape, input, output, *observer);
}

void MultiHeadAttention::prepare_self(Preparation how) {
  const Linear& keys = key.weight.exists() ? key : query;
  query_key_value = side_by_side_product({query, keys, value}, how);
  output_product = output.prepare(how);
}

void MultiHeadAttention::prepare_memory(Preparation how) {
  key_value = side_by_side_product({key, value}, how);
}

void MultiHeadAttention::prepare_global(Preparation how) {
  query_alone = query.prepare(how);
  prepare_memory(how);
}

void MultiHeadAttention::prepare_cross(Preparation how) {
  query_alone = query.prepare(how);
  output_product = output.prepare(how);
}

}  // namespace attn
