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
  TileMemory out, divisors, panels, drows, state;
  TileMemory products;  ///< [queries, keys] of a causal tile
  PackedRows packed;
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

/// A tile on both ways: features of its queries and keys, values and g, and what a query and a key
/// of it have to do with one another.
struct CausalWork {
  const CausalTile& tile;
  CausalSight sight;
  const float* values;  ///< [keys, K]
  float* gradients;     ///< [queries, K + 1] g
};

/// What the way there leaves for the way back.
struct CausalMemory {
  std::vector<float> maxima;    ///< [shown keys] of the keys up to each
  std::vector<float> divisors;  ///< [queries]
};

/// products [queries, keys] = u_i · e_j under i's maximum, 0 where i does not see j.
void tile_products(const CausalWork& work, PerformerBackwardScratch& scratch, float* products) {
  const Index m = scratch.keys.count(), n = work.tile.keys(), queries = work.tile.queries();
  multiply(scratch.queries.features(), queries, m,
           scratch.packed.as_columns(scratch.keys.features(), n, m), n, products);
  for (Index i = 0; i < queries; ++i) work.sight.take(i, n, products + i * n);
}

/// shares [queries, keys] = g_i · [v_j, 1], 0 where i does not see j; scaled as the products.
/// sums [queries], where it is given: of each row before it is scaled.
void tile_shares(const CausalWork& work, PerformerBackwardScratch& scratch, float* shares,
                 float* sums) {
  const Index width = scratch.queries.width(), n = work.tile.keys();
  const float* panels = scratch.packed.as_columns(work.values, n, width);
  PanelProduct product = product_of(work.gradients, width, panels, n, shares);
  product.x_stride = width + 1;
  product.rows = work.tile.queries();
  run_product(product);
  for (Index i = 0; i < work.tile.queries(); ++i) {
    float* row = shares + i * n;
    const float last = work.gradients[i * (width + 1) + width];
    float sum = 0;
    for (Index j = 0; j < at(work.sight.seen, i); ++j) sum += row[j] += last;
    if (sums != nullptr) sums[i] = sum;
    work.sight.take(i, n, row);
  }
}

/// A tile's features, values and place among the keys.
CausalWork load_tile(const HeadWork& head, const ShownKeys& keys, const CausalTile& tile,
                     float before, float* maxima, PerformerBackwardScratch& scratch) {
  const Index width = head.map.width();
  scratch.keys.load(head.map, keys.from(head.rows.keys, tile.first_key), tile.keys());
  make_causal_features(scratch.keys, before, maxima);
  load_queries(head, tile.first_query, tile.queries(), scratch);
  return {tile, CausalSight(tile, head.group, keys, before, maxima),
          scratch.values.copy(keys.from(head.rows.values, tile.first_key), tile.keys(), width),
          scratch.gradients.reserve(kFeatureRows * (width + 1))};
}

/// The divisors of a tile's queries, as the forward pass had them.
void tile_divisors(const CausalWork& work, const PerformerState& state,
                   PerformerBackwardScratch& scratch, float* divisors) {
  const Index m = scratch.queries.count(), n = work.tile.keys();
  const float* u = scratch.queries.features();
  float* products = scratch.products.reserve(kCausalRows * kCausalRows);
  tile_products(work, scratch, products);
  kernels().dot_products(state.totals(), {u, m, nullptr}, work.tile.queries(), m, divisors);
  for (Index i = 0; i < work.tile.queries(); ++i) {
    const float epsilon = kFeatureEpsilon * Eigen::Map<const RowVector>(u + i * m, m).sum();
    const float seen = static_cast<float>(at(work.sight.seen, i)) + state.keys();
    divisors[i] = work.sight.of_earlier(i) * divisors[i] + epsilon * seen +
                  Eigen::Map<const RowVector>(products + i * n, n).sum();
  }
}

/// du of a tile's queries [queries, m].
void tile_queries(const CausalWork& work, const PerformerState& state,
                  PerformerBackwardScratch& scratch, float* dfeatures) {
  const Index m = scratch.queries.count(), width = scratch.queries.width(), n = work.tile.keys();
  const Index queries = work.tile.queries();
  const float* sums = scratch.packed.as_columns(state.sums(), m, width);
  PanelProduct product = product_of(work.gradients, width, sums, m, dfeatures);
  product.x_stride = width + 1;
  product.rows = queries;
  run_product(product);
  float* shares = scratch.products.reserve(kCausalRows * kCausalRows);
  float* unscaled = scratch.out.reserve(kFeatureRows * width);
  tile_shares(work, scratch, shares, unscaled);
  for (Index i = 0; i < queries; ++i) {
    const float* g = work.gradients + i * (width + 1);
    const float earlier = work.sight.of_earlier(i);
    float epsilon = g[width] * state.keys() + unscaled[i];
    for (Index k = 0; k < width; ++k) epsilon += g[k] * state.values()[k];
    float* du = dfeatures + i * m;
    for (Index f = 0; f < m; ++f) {
      du[f] = earlier * (du[f] + g[width] * state.totals()[f]) + kFeatureEpsilon * epsilon;
    }
  }
  multiply(shares, queries, n, scratch.packed.as_rows(scratch.keys.features(), n, m), m, dfeatures,
           true);
}

/// From the first place to the last: dqueries.
void causal_queries(const HeadWork& head, const ShownKeys& keys,
                    const std::vector<CausalTile>& tiles, CausalMemory& memory,
                    PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  PerformerState state(scratch.state.reserve(PerformerState::size(m, width)), m, width);
  state.begin();
  for (const CausalTile& tile : tiles) {
    const CausalWork work = load_tile(head, keys, tile, state.maximum(),
                                      memory.maxima.data() + tile.first_key, scratch);
    float* divisors = memory.divisors.data() + tile.first_query;
    tile_divisors(work, state, scratch, divisors);
    for (Index i = 0; i < tile.queries(); ++i) {
      make_gradient(head, tile.first_query + i, divisors[i], work.gradients + i * (width + 1));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    tile_queries(work, state, scratch, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.queries, head.map, scratch.exponentials.reserve(0), dfeatures, drows);
    put_query_gradients(head, tile.first_query, tile.queries(), drows);
    state.add(work.sight, tile.keys(), scratch.keys.features(), work.values);
  }
}

/// Σ u_i g_iᵀ of the queries behind a place, for sums under a maximum that falls on the way.
struct LaterQueries {
  Matrix sums;        ///< [m, K + 1]
  RowVector epsilon;  ///< [K] what ε brings to every value
  float maximum = 0;
  bool any = false;

  LaterQueries(Index m, Index width)
      : sums(Matrix::Zero(m, width + 1)), epsilon(RowVector::Zero(width)) {}

  void rescale(float to) {
    if (any && to < maximum) sums *= std::exp(to - maximum);
    maximum = to;
  }
  /// Queries u [n, m] under their maxima, which change, with their g.
  void add(const CausalWork& work, float* u) {
    const Index m = sums.rows(), width = epsilon.size();
    rescale(work.sight.before);
    for (Index i = 0; i < work.tile.queries(); ++i) {
      Eigen::Map<RowVector> features(u + i * m, m);
      const Eigen::Map<const RowVector> g(work.gradients + i * (width + 1), width);
      epsilon += kFeatureEpsilon * features.sum() * g;
      features *= work.sight.of_earlier(i);
    }
    any = any || work.tile.queries() > 0;
    add_transposed_product(Eigen::Map<const Matrix>(u, work.tile.queries(), m),
                           Eigen::Map<const Matrix>(work.gradients, work.tile.queries(), width + 1),
                           sums, Backend::panels);
  }
};

/// de [keys, m] and dvalues [keys, K] of a tile, from its own queries and the later ones.
void tile_keys(const CausalWork& work, const LaterQueries& later, PerformerBackwardScratch& scratch,
               float* dfeatures, float* dvalues) {
  const Index m = scratch.keys.count(), width = scratch.keys.width(), n = work.tile.keys();
  const Index queries = work.tile.queries();
  const Matrix values = later.sums.leftCols(width);
  multiply(work.values, n, width, scratch.packed.as_columns(values.data(), m, width), m, dfeatures);
  multiply(scratch.keys.features(), n, m, scratch.packed.as_rows(values.data(), m, width), width,
           dvalues);
  for (Index j = 0; j < n; ++j) {
    const float later_scale = std::exp(work.sight.maxima[j] - work.sight.after);
    Eigen::Map<RowVector> de(dfeatures + j * m, m), dvalue(dvalues + j * width, width);
    de = later_scale * (de + later.sums.col(width).transpose());
    dvalue = later_scale * dvalue + later.epsilon;
  }
  float* pairs = scratch.products.reserve(kCausalRows * kCausalRows);
  tile_shares(work, scratch, pairs, nullptr);
  const Eigen::Map<const Matrix> u(scratch.queries.features(), queries, m);
  Eigen::Map<Matrix> de(dfeatures, n, m), dv(dvalues, n, width);
  add_transposed_product(Eigen::Map<const Matrix>(pairs, queries, n), u, de, Backend::panels);
  tile_products(work, scratch, pairs);
  for (Index i = 0; i < queries; ++i) {
    const float epsilon = kFeatureEpsilon * u.row(i).sum();
    for (Index j = 0; j < at(work.sight.seen, i); ++j) pairs[i * n + j] += epsilon;
  }
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> g(work.gradients, queries, width,
                                                            Eigen::OuterStride<>(width + 1));
  add_transposed_product(Eigen::Map<const Matrix>(pairs, queries, n), g, dv, Backend::panels);
}

/// From the last place to the first: dkeys and dvalues.
void causal_keys(const HeadWork& head, const ShownKeys& keys, const std::vector<CausalTile>& tiles,
                 CausalMemory& memory, PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  LaterQueries later(m, width);
  for (Index t = std::ssize(tiles) - 1; t >= 0; --t) {
    const CausalTile& tile = at(tiles, t);
    const float before =
        tile.first_key > 0 ? at(memory.maxima, tile.first_key - 1) : kMinusInfinity;
    const CausalWork work =
        load_tile(head, keys, tile, before, memory.maxima.data() + tile.first_key, scratch);
    for (Index i = 0; i < tile.queries(); ++i) {
      make_gradient(head, tile.first_query + i, at(memory.divisors, tile.first_query + i),
                    work.gradients + i * (width + 1));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    float* dvalues = scratch.out.reserve(kFeatureRows * width);
    later.rescale(work.sight.after);
    tile_keys(work, later, scratch, dfeatures, dvalues);
    for (Index j = 0; j < tile.keys(); ++j) {
      std::copy_n(dvalues + j * width, width, head.dvalue(keys, tile.first_key + j));
    }
    later.add(work, scratch.queries.features());
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    back_to_rows(scratch.keys, head.map, scratch.keys.features(), dfeatures, drows);
    put_key_gradients(head, keys, tile.first_key, tile.keys(), drows);
  }
}

void causal_backward(const HeadWork& head, const ShownKeys& keys) {
  auto& scratch = of_this_thread<PerformerBackwardScratch>();
  const std::vector<CausalTile> tiles = causal_tiles(head.group, keys);
  CausalMemory memory;
  memory.maxima.resize(to_size(keys.count()));
  memory.divisors.resize(to_size(head.group.queries));
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
