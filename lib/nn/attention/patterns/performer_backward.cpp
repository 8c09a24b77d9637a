// With u_i = φ(q_i), e_j = φ(k_j), C = Σ_j e_j [v_j, 1]ᵀ [m, K + 1], [n_i, d_i] = u_iᵀ C and
// o_i = n_i / d_i, the gradient dO at o gives
//
//   g_i = [dO_i, −dO_i · o_i] / d_i,   du_i = C g_i,   dC = Σ_i u_i g_iᵀ,
//   de_j = dC [v_j, 1]ᵀ,   dv_j = the first K of e_jᵀ dC.
#include "nn/attention/patterns/performer_attention.h"

#include <algorithm>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {

void load_queries(const PerformerHeadBackward& head, Index first, Index n,
                  PerformerBackwardScratch& scratch) {
  const HeadRows& rows = head.rows;
  scratch.queries.load(head.map,
                       {rows.query + first * rows.query_stride, rows.query_stride, nullptr}, n);
  scratch.queries.exponentiate(scratch.queries.largest());
  const Index size = n * head.map.count();
  std::copy_n(scratch.queries.features(), size,
              scratch.exponentials.reserve(kFeatureRows * head.map.count()));
  scratch.queries.add_epsilon();
}

void make_gradient(const PerformerHeadBackward& head, Index i, float divisor, float* g) {
  const Index width = head.map.width();
  const float* dout = head.doutput + i * head.doutput_stride;
  const float* out = head.rows.output + i * head.rows.output_stride;
  float product = 0;
  const float share = divisor == 0.0F ? 0.0F : 1.0F / divisor;
  for (Index k = 0; k < width; ++k) {
    product += dout[k] * out[k];
    g[k] = dout[k] * share;
  }
  g[width] = -product * share;
}

void features_backward(FeatureTile& tile, const FeatureMap& map, const float* exponentials,
                       float* dfeatures, float* drows) {
  for (Index i = 0; i < tile.rows() * tile.count(); ++i) dfeatures[i] *= exponentials[i];
  tile.exponents_backward(map, dfeatures, drows, map.width());
}

void put_query_gradients(const PerformerHeadBackward& head, Index first, Index n,
                         const float* drows) {
  for (Index r = 0; r < n; ++r) {
    std::copy_n(drows + r * head.map.width(), head.map.width(),
                head.dqueries + (first + r) * head.dqueries_stride);
  }
}

void put_key_gradients(const PerformerHeadBackward& head, const UnpaddedKeys& keys, Index first,
                       Index n, const float* drows) {
  for (Index r = 0; r < n; ++r) {
    std::copy_n(drows + r * head.map.width(), head.map.width(), head.dkey(keys, first + r));
  }
}

namespace {

/// Computes dqueries and dC [m, K + 1].
void whole_queries(const PerformerHeadBackward& head, const KeySums& sums, Matrix& dsums,
                   PerformerBackwardScratch& scratch) {
  const Kernels& kernel = kernels();
  const Index m = head.map.count(), width = head.map.width();
  float* panels = scratch.panels.reserve(kernel.panels_of(m) * kernel.panel_width * (width + 1));
  kernel.pack_columns({sums.sums.data(), width + 1, nullptr}, m, width + 1, panels);
  for (Index first = 0; first < head.group.queries; first += kFeatureRows) {
    const Index n = std::min(kFeatureRows, head.group.queries - first);
    load_queries(head, first, n, scratch);
    float* divisors = scratch.divisors.reserve(kFeatureRows);
    kernel.dot_products(sums.totals.data(), {scratch.queries.features(), m, nullptr}, n, m,
                        {divisors});
    float* g = scratch.gradients.reserve(kFeatureRows * (width + 1));
    for (Index r = 0; r < n; ++r) {
      make_gradient(head, first + r, divisors[r], g + r * (width + 1));
    }
    add_transposed_matmul(Eigen::Map<const Matrix>(scratch.queries.features(), n, m),
                          Eigen::Map<const Matrix>(g, n, width + 1), dsums, Backend::panels);
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    multiply({g, n, width + 1}, {panels, m}, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    features_backward(scratch.queries, head.map, scratch.exponentials.reserve(0), dfeatures, drows);
    put_query_gradients(head, first, n, drows);
  }
}

void whole_keys(const PerformerHeadBackward& head, const UnpaddedKeys& keys, const KeySums& sums,
                const Matrix& dsums, PerformerBackwardScratch& scratch) {
  const Kernels& kernel = kernels();
  const Index m = head.map.count(), width = head.map.width();
  const GatheredRows all{dsums.data(), width + 1, nullptr};
  const Index columns = kernel.panels_of(m) * kernel.panel_width * (width + 1);
  float* panels =
      scratch.panels.reserve(columns + kernel.panels_of(width) * kernel.panel_width * m);
  kernel.pack_columns(all, m, width + 1, panels);
  kernel.pack_rows(all, m, width, panels + columns);
  for (Index first = 0; first < keys.count(); first += kFeatureRows) {
    const Index n = std::min(kFeatureRows, keys.count() - first);
    scratch.keys.load(head.map, keys.from(head.rows.keys, first), n);
    scratch.keys.exponentiate(sums.maximum);
    float* exponentials = scratch.exponentials.reserve(kFeatureRows * m);
    std::copy_n(scratch.keys.features(), n * m, exponentials);
    scratch.keys.add_epsilon();
    float* values = scratch.values.copy(keys.from(head.rows.values, first), n, width, 1);
    for (Index r = 0; r < n; ++r) values[r * (width + 1) + width] = 1.0F;
    float* dvalues = scratch.out.reserve(kFeatureRows * width);
    multiply({scratch.keys.features(), n, m}, {panels + columns, width}, dvalues);
    for (Index r = 0; r < n; ++r) {
      std::copy_n(dvalues + r * width, width, head.dvalue(keys, first + r));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    multiply({values, n, width + 1}, {panels, m}, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    features_backward(scratch.keys, head.map, exponentials, dfeatures, drows);
    put_key_gradients(head, keys, first, n, drows);
  }
}

void whole_backward(const PerformerHeadBackward& head, const UnpaddedKeys& keys) {
  auto& scratch = thread_instance<PerformerBackwardScratch>();
  KeySums sums;
  sums.add_up(head.map, head.rows, keys);
  Matrix dsums = Matrix::Zero(head.map.count(), head.map.width() + 1);
  whole_queries(head, sums, dsums, scratch);
  whole_keys(head, keys, sums, dsums, scratch);
}

/// Sets the gradients of padding keys to 0.
void clear_hidden(const PerformerHeadBackward& head) {
  const std::span<const std::uint8_t> key_padding_mask = head.group.mask.key_padding_mask;
  for (Index j = 0; j < std::ssize(key_padding_mask); ++j) {
    if (at(key_padding_mask, j) == 0) continue;
    std::fill_n(head.dkeys + j * head.dmemory_stride, head.map.width(), 0.0F);
    std::fill_n(head.dvalues + j * head.dmemory_stride, head.map.width(), 0.0F);
  }
}

}  // namespace

void attend_performer_backward(const AttentionShape& shape, const AttentionInput& input,
                               const ConstMatrixRef& output, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient) {
  const FeatureMap map(input.extras->features, shape.scale);
  Index rows = 0;
  for (const AttentionGroup& group : input.groups) rows += group.queries + group.keys;
  const Index work = 5 * rows * map.count() * shape.head_dim * shape.heads;
  parallel_for(std::ssize(input.groups) * shape.heads, work, [&](Index task) {
    const AttentionGroup& group = at(input.groups, task / shape.heads);
    const Index head = task % shape.heads, column = head * shape.head_dim;
    HeadRows read = head_rows({shape, input, group, head}, gradient.dqueries);
    // Only reads the output of the forward pass, although the pointer is not const.
    read.output =
        const_cast<float*>(output.data()) + group.first_query * output.outerStride() + column;
    read.output_stride = output.outerStride();
    const Index first_key = group.first_key * gradient.stride + column;
    const PerformerHeadBackward work_of_head{
        map,
        group,
        read,
        doutput.data() + group.first_query * doutput.outerStride() + column,
        doutput.outerStride(),
        gradient.dqueries.data() + group.first_query * gradient.dqueries.outerStride() + column,
        gradient.dqueries.outerStride(),
        gradient.dkeys + first_key,
        gradient.dvalues + first_key,
        gradient.stride};
    const UnpaddedKeys keys(group);
    clear_hidden(work_of_head);
    if (group.mask.causal) {
      performer_causal_backward(work_of_head, keys);
    } else {
      whole_backward(work_of_head, keys);
    }
  });
}

}  // namespace attn
