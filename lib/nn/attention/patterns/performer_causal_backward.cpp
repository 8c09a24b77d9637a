// In the causal backward pass, C sums over the keys so far, and dC over the queries from here on.
// The rest is as in performer_backward.cpp.
#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "compute/threads.h"
#include "nn/attention/patterns/performer_attention.h"

namespace attn {
namespace {

/// A tile in both passes: the features of its queries and keys, its values and g, and the matrices
/// between its queries and keys.
struct CausalWork {
  const CausalTile& tile;
  CausalTileMask tile_mask;
  const float* values;  ///< [keys, K]
  float* gradients;     ///< [queries, K + 1] g
};

/// Data that the first pass over the tiles saves for the second.
struct CausalMemory {
  std::vector<float> maxima;    ///< [keys shown] maximum of the keys up to each one
  std::vector<float> divisors;  ///< [queries]
};

/// Computes products [queries, keys] = u_i · e_j under i's maximum, or 0 if i does not see j.
void tile_products(const CausalWork& work, PerformerBackwardScratch& scratch, float* products) {
  const Index m = scratch.keys.count(), n = work.tile.keys(), queries = work.tile.queries();
  multiply({scratch.queries.features(), queries, m},
           {scratch.packed.as_columns(scratch.keys.features(), n, m), n}, products);
  for (Index i = 0; i < queries; ++i) work.tile_mask.take(i, n, products + i * n);
}

/// Computes shares [queries, keys] = g_i · [v_j, 1], or 0 if i does not see j, scaled like the
/// products. If `sums` [queries] is given, it gets the sum of each row before scaling.
void tile_shares(const CausalWork& work, PerformerBackwardScratch& scratch, float* shares,
                 float* sums) {
  const Index width = scratch.queries.width(), n = work.tile.keys();
  const float* panels = scratch.packed.as_columns(work.values, n, width);
  PanelMatmul product = panel_matmul_of(work.gradients, width, panels, n, shares);
  product.x_stride = width + 1;
  product.rows = work.tile.queries();
  run_panel_matmul(product);
  for (Index i = 0; i < work.tile.queries(); ++i) {
    float* row = shares + i * n;
    const float last = work.gradients[i * (width + 1) + width];
    float sum = 0;
    for (Index j = 0; j < at(work.tile_mask.seen, i); ++j) sum += row[j] += last;
    if (sums != nullptr) sums[i] = sum;
    work.tile_mask.take(i, n, row);
  }
}

/// The maximum of the keys before a tile, and where to write the maximum up to each of its keys.
struct TileMaxima {
  float before;
  float* maxima;
};

/// Loads a tile's features, values and position among the keys.
CausalWork load_tile(const PerformerHeadBackward& head, const UnpaddedKeys& keys,
                     const CausalTile& tile, const TileMaxima& at_keys,
                     PerformerBackwardScratch& scratch) {
  const auto& [before, maxima] = at_keys;
  const Index width = head.map.width();
  scratch.keys.load(head.map, keys.from(head.rows.keys, tile.first_key), tile.keys());
  make_causal_features(scratch.keys, before, maxima);
  load_queries(head, tile.first_query, tile.queries(), scratch);
  return {tile, CausalTileMask(tile, head.group, keys, before, maxima),
          scratch.values.copy(keys.from(head.rows.values, tile.first_key), tile.keys(), width),
          scratch.gradients.reserve(kFeatureRows * (width + 1))};
}

/// Computes the divisors of a tile's queries, as the forward pass did.
void tile_divisors(const CausalWork& work, const PerformerState& state,
                   PerformerBackwardScratch& scratch, float* divisors) {
  const Index m = scratch.queries.count(), n = work.tile.keys();
  const float* u = scratch.queries.features();
  float* products = scratch.products.reserve(kCausalRows * kCausalRows);
  tile_products(work, scratch, products);
  kernels().dot_products(state.totals(), {u, m, nullptr}, work.tile.queries(), m, {divisors});
  for (Index i = 0; i < work.tile.queries(); ++i) {
    const float epsilon = kFeatureEpsilon * Eigen::Map<const RowVector>(u + i * m, m).sum();
    const float seen = static_cast<float>(at(work.tile_mask.seen, i)) + state.keys();
    divisors[i] = work.tile_mask.of_earlier(i) * divisors[i] + epsilon * seen +
                  Eigen::Map<const RowVector>(products + i * n, n).sum();
  }
}

/// Computes du [queries, m] of a tile's queries.
void tile_queries(const CausalWork& work, const PerformerState& state,
                  PerformerBackwardScratch& scratch, float* dfeatures) {
  const Index m = scratch.queries.count(), width = scratch.queries.width(), n = work.tile.keys();
  const Index queries = work.tile.queries();
  const float* sums = scratch.packed.as_columns(state.sums(), m, width);
  PanelMatmul product = panel_matmul_of(work.gradients, width, sums, m, dfeatures);
  product.x_stride = width + 1;
  product.rows = queries;
  run_panel_matmul(product);
  float* shares = scratch.products.reserve(kCausalRows * kCausalRows);
  float* unscaled = scratch.out.reserve(kFeatureRows * width);
  tile_shares(work, scratch, shares, unscaled);
  for (Index i = 0; i < queries; ++i) {
    const float* g = work.gradients + i * (width + 1);
    const float earlier = work.tile_mask.of_earlier(i);
    float epsilon = g[width] * state.keys() + unscaled[i];
    for (Index k = 0; k < width; ++k) epsilon += g[k] * state.values()[k];
    float* du = dfeatures + i * m;
    for (Index f = 0; f < m; ++f) {
      du[f] = earlier * (du[f] + g[width] * state.totals()[f]) + kFeatureEpsilon * epsilon;
    }
  }
  multiply({shares, queries, n}, {scratch.packed.as_rows(scratch.keys.features(), n, m), m},
           dfeatures, true);
}

/// Computes dqueries, from the first position to the last.
void causal_queries(const PerformerHeadBackward& head, const UnpaddedKeys& keys,
                    const std::vector<CausalTile>& tiles, CausalMemory& memory,
                    PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  PerformerState state(scratch.state.reserve(PerformerState::size(m, width)), m, width);
  state.begin();
  for (const CausalTile& tile : tiles) {
    const CausalWork work = load_tile(
        head, keys, tile, {state.maximum(), memory.maxima.data() + tile.first_key}, scratch);
    float* divisors = memory.divisors.data() + tile.first_query;
    tile_divisors(work, state, scratch, divisors);
    for (Index i = 0; i < tile.queries(); ++i) {
      make_gradient(head, tile.first_query + i, divisors[i], work.gradients + i * (width + 1));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    tile_queries(work, state, scratch, dfeatures);
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    features_backward(scratch.queries, head.map, scratch.exponentials.reserve(0), dfeatures, drows);
    put_query_gradients(head, tile.first_query, tile.queries(), drows);
    state.add(work.tile_mask, tile.keys(), scratch.keys.features(), work.values);
  }
}

/// Σ u_i g_iᵀ of the queries after a position, for sums under a maximum that decreases during the
/// pass.
struct LaterQueries {
  Matrix sums;        ///< [m, K + 1]
  RowVector epsilon;  ///< [K] what ε adds to every value
  float maximum = 0;
  bool any = false;

  LaterQueries(Index m, Index width)
      : sums(Matrix::Zero(m, width + 1)), epsilon(RowVector::Zero(width)) {}

  /// Adds queries u [n, m], rescaled under their changing maxima, with their g.
  void add(const CausalWork& work, float* u) {
    const Index m = sums.rows(), width = epsilon.size();
    if (any && work.tile_mask.before < maximum) sums *= std::exp(work.tile_mask.before - maximum);
    maximum = work.tile_mask.before;
    for (Index i = 0; i < work.tile.queries(); ++i) {
      Eigen::Map<RowVector> features(u + i * m, m);
      const Eigen::Map<const RowVector> g(work.gradients + i * (width + 1), width);
      epsilon += kFeatureEpsilon * features.sum() * g;
      features *= work.tile_mask.of_earlier(i);
    }
    any = any || work.tile.queries() > 0;
    add_transposed_matmul(Eigen::Map<const Matrix>(u, work.tile.queries(), m),
                          Eigen::Map<const Matrix>(work.gradients, work.tile.queries(), width + 1),
                          sums, Backend::panels);
  }
};

/// Computes de [keys, m] and dvalues [keys, K] of a tile from its own queries and the later ones.
void tile_keys(const CausalWork& work, const LaterQueries& later, PerformerBackwardScratch& scratch,
               float* dfeatures, float* dvalues) {
  const Index m = scratch.keys.count(), width = scratch.keys.width(), n = work.tile.keys();
  const Index queries = work.tile.queries();
  const Matrix values = later.sums.leftCols(width);
  multiply({work.values, n, width}, {scratch.packed.as_columns(values.data(), m, width), m},
           dfeatures);
  multiply({scratch.keys.features(), n, m},
           {scratch.packed.as_rows(values.data(), m, width), width}, dvalues);
  for (Index j = 0; j < n; ++j) {
    const float later_scale = std::exp(work.tile_mask.maxima[j] - work.tile_mask.after);
    Eigen::Map<RowVector> de(dfeatures + j * m, m), dvalue(dvalues + j * width, width);
    de = later_scale * (de + later.sums.col(width).transpose());
    dvalue = later_scale * dvalue + later.epsilon;
  }
  float* pairs = scratch.products.reserve(kCausalRows * kCausalRows);
  tile_shares(work, scratch, pairs, nullptr);
  const Eigen::Map<const Matrix> u(scratch.queries.features(), queries, m);
  Eigen::Map<Matrix> de(dfeatures, n, m), dv(dvalues, n, width);
  add_transposed_matmul(Eigen::Map<const Matrix>(pairs, queries, n), u, de, Backend::panels);
  tile_products(work, scratch, pairs);
  for (Index i = 0; i < queries; ++i) {
    const float epsilon = kFeatureEpsilon * u.row(i).sum();
    for (Index j = 0; j < at(work.tile_mask.seen, i); ++j) pairs[i * n + j] += epsilon;
  }
  const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> g(work.gradients, queries, width,
                                                            Eigen::OuterStride<>(width + 1));
  add_transposed_matmul(Eigen::Map<const Matrix>(pairs, queries, n), g, dv, Backend::panels);
}

/// Computes dkeys and dvalues, from the last position to the first.
void causal_keys(const PerformerHeadBackward& head, const UnpaddedKeys& keys,
                 const std::vector<CausalTile>& tiles, CausalMemory& memory,
                 PerformerBackwardScratch& scratch) {
  const Index m = head.map.count(), width = head.map.width();
  LaterQueries later(m, width);
  for (Index t = std::ssize(tiles) - 1; t >= 0; --t) {
    const CausalTile& tile = at(tiles, t);
    const float before =
        tile.first_key > 0 ? at(memory.maxima, tile.first_key - 1) : kMinusInfinity;
    const CausalWork work =
        load_tile(head, keys, tile, {before, memory.maxima.data() + tile.first_key}, scratch);
    for (Index i = 0; i < tile.queries(); ++i) {
      make_gradient(head, tile.first_query + i, at(memory.divisors, tile.first_query + i),
                    work.gradients + i * (width + 1));
    }
    float* dfeatures = scratch.dfeatures.reserve(kFeatureRows * m);
    float* dvalues = scratch.out.reserve(kFeatureRows * width);
    tile_keys(work, later, scratch, dfeatures, dvalues);
    for (Index j = 0; j < tile.keys(); ++j) {
      std::copy_n(dvalues + j * width, width, head.dvalue(keys, tile.first_key + j));
    }
    later.add(work, scratch.queries.features());
    float* drows = scratch.drows.reserve(kFeatureRows * width);
    features_backward(scratch.keys, head.map, scratch.keys.features(), dfeatures, drows);
    put_key_gradients(head, keys, tile.first_key, tile.keys(), drows);
  }
}

}  // namespace

void performer_causal_backward(const PerformerHeadBackward& head, const UnpaddedKeys& keys) {
  auto& scratch = thread_instance<PerformerBackwardScratch>();
  const std::vector<CausalTile> tiles = causal_tiles(head.group, keys);
  CausalMemory memory;
  memory.maxima.resize(to_size(keys.count()));
  memory.divisors.resize(to_size(head.group.queries));
  causal_queries(head, keys, tiles, memory, scratch);
  causal_keys(head, keys, tiles, memory, scratch);
}

}  // namespace attn
