// All rounds share one softmax. So with P = exp(score − maximum) / sum, the backward pass is that
// of exact attention for the pairs that meet:
//   dV_j += Σ P̃_ij dO_i,   dS = P ⊙ (dP − dO · O),   dQ_i += Σ dS_ij k_j,   dk_j += Σ dS_ij Q_i
// where k is the normalized key. A token's score with itself is constant.
#include <cmath>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/patterns/lsh_attention.h"

namespace attn {
namespace {

struct LshBackwardScratch {
  LshChunk chunk;
  TileMemory dweights, dropped, panels, maximum, sum, doutput;
};

struct LshGradients {
  Matrix doutput;               ///< [n, K]
  Matrix dquery, dkey, dvalue;  ///< [n, K]
  std::vector<float> delta;     ///< [n] dO · O
};

using ChunkRows = Eigen::Map<Matrix>;

/// Adds each of `rows` to the row of `to` at its position.
void scatter(const Matrix& rows, const std::vector<std::int32_t>& places, Matrix& to) {
  for (std::size_t r = 0; r < places.size(); ++r) to.row(places[r]) += rows.row(to_index(r));
}

Matrix gather(const Matrix& from, const std::vector<std::int32_t>& places) {
  Matrix rows(std::ssize(places), from.cols());
  for (std::size_t r = 0; r < places.size(); ++r) rows.row(to_index(r)) = from.row(places[r]);
  return rows;
}

/// The data of a head that its chunks share.
struct LshBackwardHead {
  const LshHead& head;
  const LshOrder& order;
  const float* maximum;  ///< [n]
  const float* sum;      ///< [n]
  const Dropout& dropout;
  Index number;  ///< number of the head, for dropout
};

void back_chunk(const LshBackwardHead& h, Index c, LshBackwardScratch& scratch,
                LshGradients& gradients) {
  LshChunk& chunk = scratch.chunk;
  chunk.load(h.head, h.order, c);
  const Index rows = chunk.rows(), columns = chunk.columns(), width = h.head.width;
  const Kernels& k = kernels();
  float* maximum = scratch.maximum.reserve(rows);
  float* sum = scratch.sum.reserve(rows);
  for (Index r = 0; r < rows; ++r) maximum[r] = h.maximum[at(chunk.queries, r)];
  k.softmax_block(
      {chunk.score(0), columns, rows, columns, 1.0F, 0.0F, maximum, sum, nullptr, 0, 0});
  ChunkRows weights(chunk.score(0), rows, columns);
  for (Index r = 0; r < rows; ++r) {
    weights.row(r) *= 1.0F / h.sum[at(chunk.queries, r)];
  }
  const Matrix doutput = gather(gradients.doutput, chunk.queries);
  float* panels = scratch.panels.reserve(k.panels_of(columns) * k.panel_width * width);
  k.pack_columns({h.head.value.data(), width, chunk.keys.data()}, columns, width, panels);
  ChunkRows dweights(scratch.dweights.reserve(rows * columns), rows, columns);
  PanelMatmul product = panel_matmul_of(doutput.data(), width, panels, columns, dweights.data());
  product.rows = rows;
  run_panel_matmul(product);
  ChunkRows dropped(scratch.dropped.reserve(rows * columns), rows, columns);
  dropped = weights;
  if (h.dropout.active()) {
    for (Index r = 0; r < rows; ++r) {
      const Index first = first_weight(h.order, h.number, c, r);
      h.dropout.apply(dropped.row(r).data(), columns, first);
      h.dropout.apply(dweights.row(r).data(), columns, first);
    }
  }
  Matrix dvalue = Matrix::Zero(columns, width);
  add_transposed_matmul(dropped, doutput, dvalue, Backend::panels);
  scatter(dvalue, chunk.keys, gradients.dvalue);
  for (Index r = 0; r < rows; ++r) {
    const std::int32_t own = at(chunk.queries, r);
    const float delta = at(gradients.delta, own);
    for (Index j = 0; j < columns; ++j) {
      const bool self = at(chunk.keys, j) == own;
      dweights(r, j) = self ? 0.0F : weights(r, j) * (dweights(r, j) - delta);
    }
  }
  float* rows_of_keys = scratch.panels.reserve(k.panels_of(width) * k.panel_width * columns);
  k.pack_rows({h.head.key.data(), width, chunk.keys.data()}, columns, width, rows_of_keys);
  Matrix dquery(rows, width);
  PanelMatmul back = panel_matmul_of(dweights.data(), columns, rows_of_keys, width, dquery.data());
  back.rows = rows;
  run_panel_matmul(back);
  scatter(dquery, chunk.queries, gradients.dquery);
  Matrix dkey = Matrix::Zero(columns, width);
  add_transposed_matmul(dweights, ChunkRows(chunk.query.reserve(0), rows, width), dkey,
                        Backend::panels);
  scatter(dkey, chunk.keys, gradients.dkey);
}

/// Converts the gradient at the normalized keys to the gradient at the keys, in place. With r = 1
/// / √(mean k² + ε) and k̂ = s r k: dk = s r (dk̂ − k r² (k · dk̂) / K).
void back_through_norm(const LshHead& head, float scale, Matrix& dkey) {
  for (Index j = 0; j < dkey.rows(); ++j) {
    const float inverse = head.inverse(j, 0);
    // head.key holds s r k.
    const float product = head.key.row(j).dot(dkey.row(j)) / static_cast<float>(head.width);
    dkey.row(j) = scale * inverse * dkey.row(j) - head.key.row(j) * (inverse * product / scale);
  }
}

}  // namespace

void attend_lsh_backward(const AttentionShape& shape, const AttentionInput& input,
                         const SavedForBackward& saved, const ConstMatrixRef& doutput,
                         AttentionInputGradient gradient) {
  const auto tasks = std::ssize(input.groups) * shape.heads;
  const Index width = shape.head_dim, all_rows = doutput.rows();
  const Index work =
      10 * all_rows * shape.pattern->block_size * shape.pattern->rounds * shape.heads * width;
  parallel_for(tasks, work, [&](Index task) {
    const AttentionGroup& group = at(input.groups, task / shape.heads);
    const Index head_index = task % shape.heads, column = head_index * width;
    const LshHead head(shape, input, group, head_index);
    const LshOrder order = lsh_order(shape, input, group, head_index);
    const Index n = group.keys, first = head_index * all_rows + group.first_query;
    LshGradients gradients{doutput.block(group.first_query, column, n, width),
                           Matrix::Zero(n, width), Matrix::Zero(n, width), Matrix::Zero(n, width),
                           std::vector<float>(to_size(n))};
    for (Index i = 0; i < n; ++i) {
      const float* out = saved.output + (group.first_query + i) * saved.output_stride + column;
      at(gradients.delta, i) =
          gradients.doutput.row(i).dot(Eigen::Map<const RowVector>(out, width));
    }
    const LshBackwardHead h{head,
                            order,
                            saved.log_sums.data() + first,
                            saved.row_sums.data() + first,
                            saved.dropout,
                            group.first_query * shape.heads + head_index * group.queries};
    auto& scratch = thread_instance<LshBackwardScratch>();
    for (Index c = 0; c < order.chunks(); ++c) back_chunk(h, c, scratch, gradients);
    back_through_norm(head, shape.scale, gradients.dkey);
    gradient.dqueries.block(group.first_query, column, n, width) = gradients.dquery;
    for (Index j = 0; j < n; ++j) {
      float* to = gradient.dkeys + (group.first_key + j) * gradient.stride + column;
      float* to_value = gradient.dvalues + (group.first_key + j) * gradient.stride + column;
      Eigen::Map<RowVector>(to, width) = gradients.dkey.row(j);
      Eigen::Map<RowVector>(to_value, width) = gradients.dvalue.row(j);
    }
  });
}

}  // namespace attn
