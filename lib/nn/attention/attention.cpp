#include "nn/attention/attention.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string_view>

#include "base/at.h"
#include "compute/per_thread.h"
#include "nn/attention/attention_head.h"
#include "nn/attention/attention_mask.h"
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

/// Row i of the output, from the keys whose mask is not −∞. mask, weights [S].
void sum_unmasked(const HeadRows& rows, const RowVector& mask, Index i, const float* weights,
                  SeenKeys& seen) {
  seen.find(weights, rows.values, mask.cols(), [&](Index j) { return mask[j] != kMinusInfinity; });
  seen.sum(rows.values, rows.head_dim, rows.output + i * rows.output_stride);
}

/// What tells whether a row was changed, without a copy of a long sentence's map.
std::size_t mark_of(const Matrix& weights, Index i) {
  const auto* bytes = reinterpret_cast<const char*>(weights.row(i).data());
  return std::hash<std::string_view>()({bytes, to_size(weights.cols()) * sizeof(float)});
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

/// A cache drops the keys that no query of a pattern sees any more and puts others in their rows:
/// what stands there belongs to other places.
void hide_dropped(const Matrix& mask, Matrix& key, Matrix& value, Matrix& scores) {
  for (Index j = 0; j < mask.cols(); ++j) {
    if ((mask.col(j).array() != kMinusInfinity).any()) continue;
    key.row(j).setZero();
    value.row(j).setZero();
    if (scores.size() > 0) scores.col(j).setZero();
  }
}

/// Whose head is observed, and where its output goes.
struct ObservedHead {
  const AttentionShape& shape;
  const AttentionInput& input;
  Index group;
  Index head;
  MatrixRef& output;
};

/// Weights of all keys, and scores where the observer reads them; the output comes from the rows
/// that attend() computes unobserved, except where weights were changed.
void run_observed_head(const ObservedHead& observed, AttentionObserver& observer) {
  const AttentionShape& shape = observed.shape;
  const AttentionGroup& group = at(observed.input.groups, observed.group);
  const HeadRows rows = rows_of_head(shape, observed.input, group, observed.head, observed.output);
  const HeadRows global_rows =
      rows_of_head(shape, observed.input, group, observed.head, observed.output, true);
  const auto rows_of = [&](Index i) -> const HeadRows& {
    const Index place = group.keys - group.queries + i;
    return is_global_row(shape, group, place) ? global_rows : rows;
  };
  const bool tiled = is_tiled(shape, group);
  std::optional<SeenCells> seen_by_pattern;
  if (!sees_all(shape, group)) seen_by_pattern = seen_cells(shape, group, observed.head);
  const SeenCells* pattern = seen_by_pattern ? &*seen_by_pattern : nullptr;
  const bool with_scores = observer.reads_scores();
  const bool from_cache = pattern != nullptr && rows.keys.rows != nullptr;
  ObservedRows all(shape, group, rows);
  all.seen = pattern;
  if (observed.input.global != nullptr) {
    const auto end = std::lower_bound(group.globals.begin(), group.globals.end(), group.keys);
    all.own_projections = group.globals.first(to_size(end - group.globals.begin()));
  }
  if (with_scores) all.scores.resize(group.queries, group.keys);
  if (with_scores || from_cache) all.mask = mask_matrix(shape, group, observed.head);
  Matrix& weights = all.weights;
  weights.resize(group.queries, group.keys);
  RowVector mask(group.keys);
  std::vector<std::size_t> computed;
  for (Index i = 0; i < group.queries; ++i) {
    float* row = weights.row(i).data();
    score_row(shape, rows_of(i), i, group.keys, row);
    if (with_scores) all.scores.row(i) = weights.row(i);
    if (!tiled) {
      mask_and_softmax(group.mask, visible_keys(group, i), group.keys, row);
      continue;
    }
    mask_row(group, pattern, i, mask.data());
    weights.row(i) += mask;
    softmax_of_shown(row, group.keys, [&](Index j) { return mask[j] != kMinusInfinity; });
    computed.push_back(mark_of(weights, i));
  }
  if (from_cache) hide_dropped(all.mask, all.key, all.value, all.scores);
  AttentionHead view = all.view(observed.head);
  observer.weights_ready(view);
  if (tiled) {
    const AttentionInput alone{observed.input.queries, observed.input.memory,
                               observed.input.groups.subspan(to_size(observed.group), 1),
                               observed.input.global};
    attend_tiles(shape, alone, TiledWork(shape, alone.groups, observed.head), observed.output);
  }
  SeenKeys seen;
  for (Index i = 0; i < group.queries; ++i) {
    if (!tiled) {
      sum_values(group, rows, i, weights.row(i).data(), seen);
    } else if (mark_of(weights, i) != at(computed, i)) {
      mask_row(group, pattern, i, mask.data());
      sum_unmasked(rows_of(i), mask, i, weights.row(i).data(), seen);
    }
  }
  observer.output_ready(view);
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
  const Index heads = shape.heads;
  if (observer != nullptr) {
    for (Index group = 0; group < std::ssize(input.groups); ++group) {
      for (Index head = 0; head < heads; ++head) {
        run_observed_head({shape, input, group, head, output}, *observer);
      }
    }
    return;
  }
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
