// With u_i = φ(q_i), e_j = φ(k_j), C = Σ_j e_j [v_j, 1]ᵀ [m, K + 1], [n_i, d_i] = u_iᵀ C and
// o_i = n_i / d_i, the gradient dO at o gives
//
//   g_i = [dO_i, −dO_i · o_i] / d_i,   du_i = C g_i,   dC = Σ_i u_i g_iᵀ,
//   de_j = dC [v_j, 1]ᵀ,   dv_j = the first K of e_jᵀ dC.
//
// Causal: C is that of the keys so far, dC that of the queries from here on.
#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "compute/per_thread.h"
#include "nn/attention/performer_sums.h"

namespace attn {
namespace {

/// One head of one group: what it reads, the gradient at its output, and where its own go.
struct HeadWork {
  const FeatureMap& map;
  const AttentionGroup& group;
  const HeadRows& rows;  ///< its output is the forward pass's, which is read
  const float* doutput;  ///< of the group's first query
  Index doutput_stride;
  float* dqueries;
  Index dqueries_stride;
  float* dkeys;
  float* dvalues;
  Index dmemory_stride;

  float* dkey(const ShownKeys& keys, Index n) const {
    return dkeys + keys.place(n) * dmemory_stride;
  }
  float* dvalue(const ShownKeys& keys, Index n) const {
    return dvalues + keys.place(n) * dmemory_stride;
  }
};

struct PerformerBackwardScratch {
  FeatureTile keys, queries;
  TileRows values;
  TileMemory exponentials;  ///< [n, m] without ε
  TileMemory dfeatures;     ///< [n, m]
  TileMemory gradients;     ///< [n, K + 1]
  TileMemory out, divisors, panels, drows, maxima, state;
};

void load_queries(const HeadWork& head, Index first, Index n, PerformerBackwardScratch& scratch) {
  const HeadRows& rows = head.rows;
  scratch.queries.load(head.map,
                       {rows.query + first * rows.query_stride, rows.query_stride, nullptr}, n);
  scratch.queries.exponentiate(scratch.queries.largest());
  const Index size = n * head.map.count();
  std::copy_n(scratch.queries.features(), size,
              scratch.exponentials.reserve(kFeatureRows * head.map.count()));
  scratch.queries.add_epsilon();
}

/// g of query i, whose divisor is known → g [K + 1].
void make_gradient(const HeadWork& head, Index i, float divisor, float* g) {
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

/// dfeatures ⊙ exponentials, which are the gradients at the exponents, go back to the rows.
void back_to_rows(FeatureTile& tile, const FeatureMap& map, const float* exponentials,
                  float* dfeatures, float* drows) {
  for (Index i = 0; i < tile.rows() * tile.count(); ++i) dfeatures[i] *= exponentials[i];
  tile.exponents_backward(map, dfeatures, drows, map.width());
}

void put_query_gradients(const HeadWork& head, Index first, Index n, const float* drows) {
  for (Index r = 0; r < n; ++r) {
    std::copy_n(drows + r * head.map.width(), head.map.width(),
                head.dqueries + (first + r) * head.dqueries_stride);
  }
}

void put_key_gradients(const HeadWork& head, const ShownKeys& keys, Index first, Index n,
                       const float* drows) {
  for (Index r = 0; r < n; ++r) {
    std::copy_n(drows + r * head.map.width(), head.map.width(), head.dkey(keys, first + r));
  }
}

/// y [rows, out] = x [rows, in] · panels.
void multiply(const float* x, Index rows, Index in, const float* panels, Index out, float* y) {
  PanelProduct product = product_of(x, in, panels, out, y);
  product.rows = rows;
  run_product(product);
}

// --- every query reads the same sums -------------------------------------------------------------

/// dqueries, and dC [m, K + 1].
void whole_queries(const HeadWork& head, const KeySums& sums, Matrix& dsums,
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
                        divisors);
    float* g = scratch.gradients.reserve(kFeatureRows * (width + 1));
    for (Index r = 0; r < n; ++r) {
      make_gradient(head, first + r, divisors[r], g + r * (width + 1));
    }
    add_transposed_product(Eigen::Map<const Matrix>(scratch.queries.features(), n, m),
                           Eigen::Map<const Matrix>(g, n, width + 1), dsums, Backend::panels);
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    multiply(g, n, width + 1, panels, m, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.queries, head.map, scratch.exponentials.reserve(0), dfeatures, drows);
    put_query_gradients(head, first, n, drows);
  }
}

void whole_keys(const HeadWork& head, const ShownKeys& keys, const KeySums& sums,
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
    multiply(scratch.keys.features(), n, m, panels + columns, width, dvalues);
    for (Index r = 0; r < n; ++r) {
      std::copy_n(dvalues + r * width, width, head.dvalue(keys, first + r));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    multiply(values, n, width + 1, panels, m, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.keys, head.map, exponentials, dfeatures, drows);
    put_key_gradients(head, keys, first, n, drows);
  }
}

void whole_backward(const HeadWork& head, const ShownKeys& keys) {
  auto& scratch = of_this_thread<PerformerBackwardScratch>();
  KeySums sums;
  sums.add_up(head.map, head.rows, keys);
  Matrix dsums = Matrix::Zero(head.map.count(), head.map.width() + 1);
  whole_queries(head, sums, dsums, scratch);
  whole_keys(head, keys, sums, dsums, scratch);
}

// --- causal --------------------------------------------------------------------------------------

/// What the way there leaves for the way back.
struct CausalMemory {
  std::vector<float> maxima;    ///< [shown keys] of the keys up to each
  std::vector<float> divisors;  ///< [queries]
  std::vector<float> scales;    ///< [queries] the maximum that a query's sums have
};

/// From the first place to the last: dqueries.
void causal_queries(const HeadWork& head, const ShownKeys& keys,
                    const std::vector<CausalTile>& tiles, CausalMemory& memory,
                    PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  PerformerState state(scratch.state.reserve(PerformerState::size(m, width)), m, width);
  state.begin();
  for (const CausalTile& tile : tiles) {
    const Index n = tile.end_key - tile.first_key, queries = tile.end_query - tile.first_query;
    scratch.keys.load(head.map, keys.from(head.rows.keys, tile.first_key), n);
    float* maxima = memory.maxima.data() + tile.first_key;
    make_causal_features(scratch.keys, state.maximum(), maxima);
    const float* values =
        scratch.values.copy(keys.from(head.rows.values, tile.first_key), n, width);
    load_queries(head, tile.first_query, queries, scratch);
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    float* g = scratch.gradients.reserve(kFeatureRows * (width + 1));
    float* unused = scratch.out.reserve(kFeatureRows * width);
    for_each_place(tile, head.group, keys, [&](Index key, Index query) {
      if (key >= 0) {
        state.rescale(maxima[key]);
        state.add(scratch.keys.features(key), values + key * width);
      }
      if (query < 0) return;
      const Index i = tile.first_query + query;
      const float divisor = state.read(scratch.queries.features(query), unused);
      at(memory.divisors, i) = divisor;
      at(memory.scales, i) = state.maximum();
      make_gradient(head, i, divisor, g);
      float* du = dfeatures + query * m;
      kernels().dot_products(g, {state.sums(), width, nullptr}, m, width, du);
      float epsilon = g[width] * state.keys();
      for (Index k = 0; k < width; ++k) epsilon += g[k] * state.values()[k];
      for (Index f = 0; f < m; ++f) {
        du[f] += g[width] * state.totals()[f] + kFeatureEpsilon * epsilon;
      }
    });
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.queries, head.map, scratch.exponentials.reserve(0), dfeatures, drows);
    put_query_gradients(head, tile.first_query, queries, drows);
  }
}

/// Σ u_i g_iᵀ of the queries from a place on, for sums under a maximum that falls on the way.
struct LaterQueries {
  Matrix sums;        ///< [m, K]
  RowVector totals;   ///< [m] of the last column
  RowVector epsilon;  ///< [K] what ε brings to every value
  float maximum = 0;
  bool any = false;

  LaterQueries(Index m, Index width)
      : sums(Matrix::Zero(m, width)), totals(RowVector::Zero(m)), epsilon(RowVector::Zero(width)) {}

  void rescale(float to) {
    if (any && to < maximum) {
      const float factor = std::exp(to - maximum);
      sums *= factor;
      totals *= factor;
    }
    maximum = to;
  }
  void add(const float* u, const float* g, float scale) {
    rescale(scale);
    any = true;
    add_outer_product(u, sums.rows(), g, sums.cols(), sums.data());
    const Eigen::Map<const RowVector> features(u, totals.size());
    totals += g[sums.cols()] * features;
    epsilon += kFeatureEpsilon * features.sum() * Eigen::Map<const RowVector>(g, epsilon.size());
  }
};

/// From the last place to the first: dkeys and dvalues.
void causal_keys(const HeadWork& head, const ShownKeys& keys, const std::vector<CausalTile>& tiles,
                 const CausalMemory& memory, PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  LaterQueries later(m, width);
  std::vector<std::pair<Index, Index>> places;
  for (Index t = std::ssize(tiles) - 1; t >= 0; --t) {
    const CausalTile& tile = at(tiles, t);
    const Index n = tile.end_key - tile.first_key;
    scratch.keys.load(head.map, keys.from(head.rows.keys, tile.first_key), n);
    const float* maxima = memory.maxima.data() + tile.first_key;
    scratch.keys.exponentiate(maxima);
    const float* values =
        scratch.values.copy(keys.from(head.rows.values, tile.first_key), n, width);
    load_queries(head, tile.first_query, tile.end_query - tile.first_query, scratch);
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    float* g = scratch.gradients.reserve(kFeatureRows * (width + 1));
    places.clear();
    for_each_place(tile, head.group, keys,
                   [&](Index key, Index query) { places.emplace_back(key, query); });
    for (auto place = places.rbegin(); place != places.rend(); ++place) {
      const Index key = place->first, query = place->second;
      if (query >= 0) {
        const Index i = tile.first_query + query;
        make_gradient(head, i, at(memory.divisors, i), g);
        later.add(scratch.queries.features(query), g, at(memory.scales, i));
      }
      if (key < 0) continue;
      later.rescale(maxima[key]);
      float* de = dfeatures + key * m;
      kernels().dot_products(values + key * width, {later.sums.data(), width, nullptr}, m, width,
                             de);
      kernels().add(later.totals.data(), de, m);
      float* dvalue = head.dvalue(keys, tile.first_key + key);
      kernels().weighted_sum(scratch.keys.features(key), {later.sums.data(), width, nullptr}, m,
                             width, dvalue);
      kernels().add(later.epsilon.data(), dvalue, width);
    }
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.keys, head.map, scratch.keys.features(), dfeatures, drows);
    put_key_gradients(head, keys, tile.first_key, n, drows);
  }
}

void causal_backward(const HeadWork& head, const ShownKeys& keys) {
  auto& scratch = of_this_thread<PerformerBackwardScratch>();
  const std::vector<CausalTile> tiles = causal_tiles(head.group, keys);
  CausalMemory memory;
  memory.maxima.resize(to_size(keys.count()));
  memory.divisors.resize(to_size(head.group.queries));
  memory.scales.resize(to_size(head.group.queries));
  causal_queries(head, keys, tiles, memory, scratch);
  causal_keys(head, keys, tiles, memory, scratch);
}

/// Keys that are padding get no gradient.
void clear_hidden(const HeadWork& head) {
  const std::span<const std::uint8_t> hidden = head.group.mask.hidden;
  for (Index j = 0; j < std::ssize(hidden); ++j) {
    if (at(hidden, j) == 0) continue;
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
    HeadRows read = rows_of_head(shape, input, group, head, gradient.dqueries);
    // The forward pass's output is read, and nothing is written through it.
    read.output =
        const_cast<float*>(output.data()) + group.first_query * output.outerStride() + column;
    read.output_stride = output.outerStride();
    const Index first_key = group.first_key * gradient.stride + column;
    const HeadWork work_of_head{
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
    const ShownKeys keys(group);
    clear_hidden(work_of_head);
    if (group.mask.causal) {
      causal_backward(work_of_head, keys);
    } else {
      whole_backward(work_of_head, keys);
    }
  });
}

}  // namespace attn
