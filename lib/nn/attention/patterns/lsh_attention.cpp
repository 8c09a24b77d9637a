#include "nn/attention/patterns/lsh_attention.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <stdexcept>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/attention_mask.h"
#include "nn/attention/observed_head.h"
#include "nn/attention/patterns/pattern_attention.h"

namespace attn {
namespace {

/// Keeps x / length finite: vectors of length 0 stay 0.
constexpr float kSmallest = 1e-6F;

struct LshScratch {
  LshChunk chunk;
  TileMemory panels, maximum, sum, out;
};

struct Sums {
  std::vector<float> maximum, sum;  ///< [n]
  Matrix output;                    ///< [n, K] before the division by the sum
};

/// Adds a chunk's scores to the sums of its rows.
void add_chunk(const LshHead& head, LshScratch& scratch, Sums& sums) {
  LshChunk& chunk = scratch.chunk;
  const Index rows = chunk.rows(), width = head.width;
  float* maximum = scratch.maximum.reserve(rows);
  float* sum = scratch.sum.reserve(rows);
  float* out = scratch.out.reserve(rows * width);
  for (Index r = 0; r < rows; ++r) {
    const auto place = to_size(at(chunk.queries, r));
    maximum[r] = sums.maximum[place];
    sum[r] = sums.sum[place];
    std::copy_n(sums.output.row(to_index(place)).data(), width, out + r * width);
  }
  kernels().softmax_block({chunk.score(0), chunk.columns(), rows, chunk.columns(), 1.0F, 0.0F,
                           maximum, sum, out, width, width});
}

/// Adds a chunk's weighted values to the output after add_chunk(), with dropout applied to the
/// weights.
void add_values(const LshHead& head, LshScratch& scratch, Sums& sums) {
  LshChunk& chunk = scratch.chunk;
  const Index rows = chunk.rows(), columns = chunk.columns(), width = head.width;
  const Kernels& k = kernels();
  float* panels = scratch.panels.reserve(k.panels_of(width) * k.panel_width * columns);
  k.pack_rows({head.value.data(), width, chunk.keys.data()}, columns, width, panels);
  float* out = scratch.out.reserve(0);
  PanelMatmul product = panel_matmul_of(chunk.score(0), columns, panels, width, out);
  product.rows = rows;
  product.add = true;
  run_panel_matmul(product);
  for (Index r = 0; r < rows; ++r) {
    const auto place = to_size(at(chunk.queries, r));
    sums.maximum[place] = scratch.maximum.reserve(0)[r];
    sums.sum[place] = scratch.sum.reserve(0)[r];
    std::copy_n(out + r * width, width, sums.output.row(to_index(place)).data());
  }
}

Sums run_head(const AttentionShape& shape, const AttentionInput& input, const AttentionGroup& group,
              Index head_index, const Dropout& dropout) {
  auto& scratch = thread_instance<LshScratch>();
  const LshHead head(shape, input, group, head_index);
  const LshOrder order = lsh_order(shape, input, group, head_index);
  Sums sums{std::vector<float>(to_size(group.keys), kMinusInfinity),
            std::vector<float>(to_size(group.keys), 0.0F), Matrix::Zero(group.keys, head.width)};
  for (Index c = 0; c < order.chunks(); ++c) {
    scratch.chunk.load(head, order, c);
    add_chunk(head, scratch, sums);
    if (dropout.active()) {
      const Index number = group.first_query * shape.heads + head_index * group.queries;
      for (Index r = 0; r < scratch.chunk.rows(); ++r) {
        dropout.apply(scratch.chunk.score(r), scratch.chunk.columns(),
                      first_weight(order, number, c, r));
      }
    }
    add_values(head, scratch, sums);
  }
  return sums;
}

void put_output(const Sums& sums, const HeadRows& rows) {
  for (Index i = 0; i < sums.output.rows(); ++i) {
    const float sum = at(sums.sum, i);
    float* out = rows.output + i * rows.output_stride;
    for (Index k = 0; k < rows.head_dim; ++k) out[k] = sum == 0.0F ? 0.0F : sums.output(i, k) / sum;
  }
}

Index work_of(const AttentionShape& shape, std::span<const AttentionGroup> groups) {
  Index rows = 0;
  for (const AttentionGroup& group : groups) rows += group.queries;
  return rows * 4 * shape.pattern->block_size * shape.pattern->rounds * shape.heads *
         shape.head_dim;
}

/// Returns ln of the number of times that each query meets each key. Softmax's argument is the
/// score plus this term.
Matrix met(const AttentionGroup& group, const LshHead& head, const LshOrder& order) {
  Matrix times = Matrix::Zero(group.queries, group.keys);
  LshChunk chunk;
  for (Index c = 0; c < order.chunks(); ++c) {
    chunk.load(head, order, c);
    for (const std::int32_t i : chunk.queries) {
      for (const std::int32_t j : chunk.keys) times(i, j) += 1.0F;
    }
  }
  Matrix mask = times.array().log();
  for (Index i = 0; i < mask.rows(); ++i) {
    if (times(i, i) > 0) mask(i, i) += kSelfScore;
  }
  return mask;
}

/// Returns the order as observers get it: round by round, without padding.
LshBuckets observed_order(const LshOrder& order, Index places) {
  LshBuckets told{narrow_cast<std::int32_t>(order.chunk)};
  const Index a_round = std::ssize(order.places) / order.rounds;
  for (Index round = 0; round < order.rounds; ++round) {
    const auto first = order.places.begin() + round * a_round;
    std::vector<std::int32_t>& tokens = told.order.emplace_back();
    std::copy_if(first, first + a_round, std::back_inserter(tokens),
                 [](std::int32_t place) { return place >= 0; });
    if (order.buckets.empty()) continue;
    const auto bucket = order.buckets.begin() + round * places;
    told.buckets.emplace_back(bucket, bucket + places);
  }
  return told;
}

/// Computes all scores with the same matrix multiplication that gives the chunks theirs.
Matrix all_scores(const LshHead& head) {
  const Kernels& k = kernels();
  const Index n = head.query.rows(), width = head.width;
  AlignedFloats panels(to_size(k.panels_of(n) * k.panel_width * width));
  k.pack_columns({head.key.data(), width, nullptr}, n, width, panels.data());
  Matrix scores(n, n);
  PanelMatmul product = panel_matmul_of(head.query.data(), width, panels.data(), n, scores.data());
  product.rows = n;
  run_panel_matmul(product);
  return scores;
}

PatternCells cells_of(const Matrix& mask) {
  PatternCells seen;
  for (Index i = 0; i < mask.rows(); ++i) {
    for (Index j = 0; j < mask.cols(); ++j) {
      if (mask(i, j) == kMinusInfinity) continue;
      const auto key = narrow_cast<std::int32_t>(j);
      if (j > 0 && mask(i, j - 1) != kMinusInfinity) {
        ++seen.runs.back().end;
      } else {
        seen.runs.push_back({key, key + 1, PatternReason::block});
      }
    }
    seen.end_row();
  }
  return seen;
}

void show_head(const HeadOfGroup& of, MatrixRef output, AttentionObserver& observer) {
  const auto& [shape, input, group, head_index] = of;
  const HeadRows rows = head_rows(of, output);
  const LshHead head(shape, input, group, head_index);
  const LshOrder order = lsh_order(shape, input, group, head_index);
  ObservedHead observed(shape, group, rows, met(group, head, order));
  observed.key = head.key / shape.scale;
  observed.scores = all_scores(head);
  observed.weights = observed.scores + observed.mask;
  for (Index i = 0; i < group.queries; ++i) {
    for (Index j = 0; j < group.keys; ++j) {
      // A token's score with its own key is not used.
      if (i == j) observed.weights(i, j) = observed.mask(i, j);
    }
    kernels().softmax(observed.weights.row(i).data(), group.keys);
  }
  const PatternCells seen = cells_of(observed.mask);
  const LshBuckets hashes = observed_order(order, group.keys);
  observed.seen = &seen;
  observed.hashes = &hashes;
  observed.show(head_index, observer);
}

}  // namespace

// --- what both passes read -----------------------------------------------------------------------

void check_lsh(const AttentionInput& input, const AttentionGroup& group) {
  if (input.extras == nullptr || input.extras->rotations.data == nullptr) {
    throw std::logic_error("lsh has no rotations");
  }
  if (group.mask.causal || group.key_rows != nullptr || group.queries != group.keys) {
    throw std::logic_error("lsh attends to whole sentences");
  }
}

LshHead::LshHead(const AttentionShape& shape, const AttentionInput& input,
                 const AttentionGroup& group, Index head)
    : width(shape.head_dim), query(group.keys, width), inverse(group.keys, 1) {
  check_lsh(input, group);
  const Index column = head * width;
  const KeysAndValues& memory = input.memory;
  const Index first = group.first_key * memory.stride + column;
  key = gather_rows({memory.keys + first, memory.stride, nullptr}, group.keys, width);
  value = gather_rows({memory.values + first, memory.stride, nullptr}, group.keys, width);
  query =
      gather_rows({input.queries.data() + group.first_query * input.queries.outerStride() + column,
                   input.queries.outerStride(), nullptr},
                  group.keys, width);
  for (Index j = 0; j < group.keys; ++j) {
    const float mean =
        kernels().sum_of_squares(key.row(j).data(), width) / static_cast<float>(width);
    inverse(j, 0) = 1.0F / std::sqrt(mean + kSmallest);
    key.row(j) *= inverse(j, 0) * shape.scale;
  }
}

void LshChunk::load(const LshHead& head, const LshOrder& order, Index c) {
  const auto add = [&](std::vector<std::int32_t>& list, Index number) {
    for (Index n = number * order.chunk; n < (number + 1) * order.chunk; ++n) {
      if (at(order.places, n) >= 0) list.push_back(at(order.places, n));
    }
  };
  queries.clear();
  keys.clear();
  add(queries, c);
  if (order.chunks() > 1) add(keys, c > 0 ? c - 1 : order.chunks() - 1);
  add(keys, c);
  const Kernels& k = kernels();
  const Index width = head.width, rows_here = rows(), columns_here = columns();
  float* query_rows = query.reserve(rows_here * width);
  for (Index r = 0; r < rows_here; ++r) {
    std::copy_n(head.query.row(at(queries, r)).data(), width, query_rows + r * width);
  }
  float* key_panels = panels.reserve(k.panels_of(columns_here) * k.panel_width * width);
  k.pack_columns({head.key.data(), width, keys.data()}, columns_here, width, key_panels);
  PanelMatmul product = panel_matmul_of(query_rows, width, key_panels, columns_here,
                                        scores.reserve(rows_here * columns_here));
  product.rows = rows_here;
  run_panel_matmul(product);
  for (Index r = 0; r < rows_here; ++r) {
    float* row = score(r);
    const std::int32_t own = at(queries, r);
    for (Index j = 0; j < columns_here; ++j) row[j] = at(keys, j) == own ? kSelfScore : row[j];
  }
}

Index first_weight(const LshOrder& order, Index head_number, Index c, Index row) {
  const Index rows = (head_number * order.rounds * 2 + c) * order.chunk + row;
  return rows * 2 * order.chunk;
}

// --- attention -----------------------------------------------------------------------------------

namespace {

class LshAttention : public PatternAttention {
 public:
  void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
              AttentionObserver* observer) const override {
    const auto tasks = std::ssize(input.groups) * shape.heads;
    parallel_for(tasks, work_of(shape, input.groups), [&](Index task) {
      const AttentionGroup& group = at(input.groups, task / shape.heads);
      const Index head = task % shape.heads;
      put_output(run_head(shape, input, group, head, {}),
                 head_rows({shape, input, group, head}, output));
    });
    if (observer == nullptr) return;
    for (const AttentionGroup& group : input.groups) {
      for (Index head = 0; head < shape.heads; ++head) {
        show_head({shape, input, group, head}, output, *observer);
      }
    }
  }

  void attend_training(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                       SavedForBackward& saved) const override {
    // For each row of each head: the maximum of its scores, and then their sum.
    const Index rows = output.rows();
    saved.log_sums.resize(to_size(rows * shape.heads));
    saved.row_sums.resize(saved.log_sums.size());
    const auto tasks = std::ssize(input.groups) * shape.heads;
    parallel_for(tasks, work_of(shape, input.groups), [&](Index task) {
      const AttentionGroup& group = at(input.groups, task / shape.heads);
      const Index head = task % shape.heads;
      const Sums sums = run_head(shape, input, group, head, saved.dropout);
      put_output(sums, head_rows({shape, input, group, head}, output));
      const Index first = head * rows + group.first_query;
      std::copy(sums.maximum.begin(), sums.maximum.end(), saved.log_sums.begin() + first);
      std::copy(sums.sum.begin(), sums.sum.end(), saved.row_sums.begin() + first);
    });
  }
  void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                       const SavedForBackward& saved, const ConstMatrixRef& doutput,
                       AttentionInputGradient gradient) const override {
    attend_lsh_backward(shape, input, saved, doutput, gradient);
  }
};

}  // namespace

const PatternAttention& lsh_attention() {
  static const LshAttention method;
  return method;
}

}  // namespace attn
