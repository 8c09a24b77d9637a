// Attention in training: the forward pass that keeps its weights, and the backward pass. The
// formulas stand in attention.h; here every product is a row at a time, as in attention.cpp.
#include <algorithm>
#include <stdexcept>

#include "nn/attention.h"
#include "nn/attention_head.h"

namespace attn {
namespace {

/// Memory of one thread for one head of one group.
struct Scratch {
  std::vector<float> row;      ///< [keys]
  std::vector<float> dropped;  ///< [keys, queries] weights after dropout, transposed
  std::vector<float> dscores;  ///< [keys, queries] gradient at the scores, transposed

  void reserve(Index queries, Index keys) {
    const auto cells = static_cast<std::size_t>(queries * keys);
    if (row.size() < static_cast<std::size_t>(keys)) row.resize(static_cast<std::size_t>(keys));
    if (dropped.size() < cells) dropped.resize(cells);
    if (dscores.size() < cells) dscores.resize(cells);
  }
};

/// What one head of one group reads and writes in the backward pass.
struct HeadGradient {
  const float* doutput;
  Index doutput_stride;
  float* dquery;
  Index dquery_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;
};

/// dQ, and the transposed weights and score gradients from which dK and dV follow.
void backward_queries(const AttentionShape& shape, const AttentionGroup& group, const Head& h,
                      const HeadGradient& d, const Dropout& dropout, const float* weights,
                      Index first_number, Scratch& scratch) {
  const Kernels& k = kernels();
  for (Index i = 0; i < group.queries; ++i) {
    const Index visible = visible_keys(group, i);
    const float* p = weights + i * group.keys;
    float* row = scratch.row.data();
    std::copy(p, p + visible, row);
    dropout.apply(row, visible, first_number + i * group.keys);
    for (Index j = 0; j < visible; ++j) {
      scratch.dropped[static_cast<std::size_t>(j * group.queries + i)] = row[j];
    }
    k.dot_products(d.doutput + i * d.doutput_stride, h.values, visible, shape.head_dim, row);
    dropout.apply(row, visible, first_number + i * group.keys);
    k.softmax_backward(p, shape.scale, row, visible);
    for (Index j = 0; j < visible; ++j) {
      scratch.dscores[static_cast<std::size_t>(j * group.queries + i)] = row[j];
    }
    k.weighted_sum(row, h.keys, visible, shape.head_dim, d.dquery + i * d.dquery_stride);
  }
}

/// dK and dV: each key gathers from the queries that saw it.
void backward_keys(const AttentionShape& shape, const AttentionGroup& group, const Head& h,
                   const HeadGradient& d, const Scratch& scratch) {
  const Kernels& k = kernels();
  for (Index j = 0; j < group.keys; ++j) {
    const Index first =
        group.mask.causal ? std::max<Index>(0, j - (group.keys - group.queries)) : 0;
    const Index count = group.queries - first;
    const auto at = static_cast<std::size_t>(j * group.queries + first);
    const GatheredRows doutput{d.doutput + first * d.doutput_stride, d.doutput_stride, nullptr};
    const GatheredRows queries{h.query + first * h.query_stride, h.query_stride, nullptr};
    k.weighted_sum(scratch.dropped.data() + at, doutput, count, shape.head_dim,
                   d.dvalues + j * d.dmemory_stride);
    k.weighted_sum(scratch.dscores.data() + at, queries, count, shape.head_dim,
                   d.dkeys + j * d.dmemory_stride);
  }
}

/// Multiply-adds of all groups' score matrices, once.
Index pairs_of(std::span<const AttentionGroup> groups) {
  Index pairs = 0;
  for (const AttentionGroup& group : groups) pairs += group.queries * group.keys;
  return pairs;
}

}  // namespace

void attend_training(const AttentionShape& shape, const ConstMatrixRef& queries,
                     const KeysAndValues& memory, std::span<const AttentionGroup> groups,
                     const Dropout& dropout, MatrixRef output, KeptWeights& kept) {
  const Index heads = shape.heads;
  kept.first.clear();
  Index total = 0;
  for (const AttentionGroup& group : groups) {
    if (group.key_rows != nullptr) throw std::logic_error("training attends to rows in order");
    kept.first.push_back(total);
    total += heads * group.queries * group.keys;
  }
  if (kept.weights.size() < static_cast<std::size_t>(total)) {
    kept.weights = AlignedFloats(static_cast<std::size_t>(total));
  }
  const auto tasks = static_cast<Index>(groups.size()) * heads;
  parallel_for(tasks, 2 * pairs_of(groups) * shape.head_dim * heads, [&](Index task) {
    const auto g = static_cast<std::size_t>(task / heads);
    const AttentionGroup& group = groups[g];
    const Head h = head_of(shape, queries, memory, group, task % heads, output);
    const Index first = kept.first[g] + task % heads * group.queries * group.keys;
    thread_local std::vector<float> row;
    row.resize(std::max(row.size(), static_cast<std::size_t>(group.keys)));
    for (Index i = 0; i < group.queries; ++i) {
      float* weights = kept.weights.data() + first + i * group.keys;
      const Index visible = visible_keys(group, i);
      score_row(shape, h, i, visible, weights);
      mask_and_softmax(group.mask, visible, group.keys, weights);
      std::copy(weights, weights + visible, row.data());
      dropout.apply(row.data(), visible, first + i * group.keys);
      kernels().weighted_sum(row.data(), h.values, visible, shape.head_dim,
                             h.output + i * h.output_stride);
    }
  });
}

void attend_backward(const AttentionShape& shape, const ConstMatrixRef& queries,
                     const KeysAndValues& memory, std::span<const AttentionGroup> groups,
                     const Dropout& dropout, const KeptWeights& kept, const ConstMatrixRef& doutput,
                     MatrixRef dqueries, const KeysAndValuesGradient& dmemory) {
  const Index heads = shape.heads;
  const auto tasks = static_cast<Index>(groups.size()) * heads;
  parallel_for(tasks, 5 * pairs_of(groups) * shape.head_dim * heads, [&](Index task) {
    const auto g = static_cast<std::size_t>(task / heads);
    const AttentionGroup& group = groups[g];
    const Index column = task % heads * shape.head_dim;
    // The head's view has an output; here nothing is written through it.
    const Head h = head_of(shape, queries, memory, group, task % heads, dqueries);
    const Index first_key = group.first_key * dmemory.stride + column;
    const HeadGradient d{doutput.data() + group.first_query * doutput.outerStride() + column,
                         doutput.outerStride(),
                         h.output,
                         h.output_stride,
                         dmemory.keys + first_key,
                         dmemory.values + first_key,
                         dmemory.stride};
    const Index first = kept.first[g] + task % heads * group.queries * group.keys;
    thread_local Scratch scratch;
    scratch.reserve(group.queries, group.keys);
    backward_queries(shape, group, h, d, dropout, kept.weights.data() + first, first, scratch);
    backward_keys(shape, group, h, d, scratch);
  });
}

}  // namespace attn
