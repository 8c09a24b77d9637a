#include "nn/attention/performer_sums.h"

#include <algorithm>
#include <cmath>

#include "base/at.h"
#include "compute/per_thread.h"

namespace attn {
namespace {

struct KeyScratch {
  FeatureTile features;
  TileRows values;
};

struct OuterScratch {
  TileMemory panels;
};

}  // namespace

void KeySums::add_up(const FeatureMap& map, const HeadRows& head, const ShownKeys& keys) {
  auto& scratch = of_this_thread<KeyScratch>();
  const Index m = map.count(), width = map.width();
  sums = Matrix::Zero(m, width + 1);
  maximum = kMinusInfinity;
  RowVector all_values = RowVector::Zero(width + 1);
  for (Index first = 0; first < keys.count(); first += kFeatureRows) {
    const Index n = std::min(kFeatureRows, keys.count() - first);
    scratch.features.load(map, keys.from(head.keys, first), n);
    const float largest =
        *std::max_element(scratch.features.largest(), scratch.features.largest() + n);
    if (largest > maximum) {
      sums *= std::exp(maximum - largest);
      maximum = largest;
    }
    scratch.features.exponentiate(maximum);
    float* values = scratch.values.copy(keys.from(head.values, first), n, width, 1);
    for (Index r = 0; r < n; ++r) {
      values[r * (width + 1) + width] = 1.0F;
      kernels().add(values + r * (width + 1), all_values.data(), width + 1);
    }
    const Eigen::Map<const Matrix> features(scratch.features.features(), n, m);
    const Eigen::Map<const Matrix, 0, Eigen::OuterStride<>> value_rows(
        values, n, width, Eigen::OuterStride<>(width + 1));
    add_transposed_product(features, value_rows, sums.leftCols(width), Backend::panels);
    totals = RowVector::Zero(m);
    kernels().add_column_sums(features.data(), m, n, m, totals.data());
    sums.col(width) += totals.transpose();
  }
  sums.rowwise() += kFeatureEpsilon * all_values;
  totals = sums.col(width).transpose();
  const Index panels = kernels().panels_of(width);
  rows = AlignedFloats(to_size(panels * kernels().panel_width * m));
  kernels().pack_rows({sums.data(), width + 1, nullptr}, m, width, rows.data());
}

void KeySums::read(FeatureTile& queries, float* out, float* divisors) const {
  const Index m = queries.count();
  PanelProduct product = product_of(queries.features(), m, rows.data(), sums.cols() - 1, out);
  product.rows = queries.rows();
  run_product(product);
  kernels().dot_products(totals.data(), {queries.features(), m, nullptr}, queries.rows(), m,
                         divisors);
}

std::vector<CausalTile> causal_tiles(const AttentionGroup& group, const ShownKeys& keys) {
  std::vector<CausalTile> tiles;
  const Index first_query = group.keys - group.queries;
  Index key = 0;
  for (Index first = 0; first < group.keys; first += kFeatureRows) {
    CausalTile tile;
    tile.first = first;
    tile.end = std::min(first + kFeatureRows, group.keys);
    tile.first_key = key;
    while (key < keys.count() && keys.place(key) < tile.end) ++key;
    tile.end_key = key;
    tile.first_query = std::max<Index>(0, tile.first - first_query);
    tile.end_query = std::max<Index>(0, tile.end - first_query);
    tiles.push_back(tile);
  }
  return tiles;
}

void make_causal_features(FeatureTile& keys, float before, float* maxima) {
  float largest = before;
  for (Index r = 0; r < keys.rows(); ++r) {
    largest = std::max(largest, keys.largest()[r]);
    maxima[r] = largest;
  }
  keys.exponentiate(maxima);
}

void add_outer_product(const float* x, Index m, const float* v, Index width, float* y) {
  const Kernels& k = kernels();
  float* panels = of_this_thread<OuterScratch>().panels.reserve(k.panels_of(width) * k.panel_width);
  k.pack_rows({v, width, nullptr}, 1, width, panels);
  PanelProduct product = product_of(x, 1, panels, width, y);
  product.rows = m;
  product.add = true;
  run_product(product);
}

// --- the sums of a causal head -------------------------------------------------------------------

Index PerformerState::size(Index features, Index head_dim) {
  return 1 + features * (head_dim + 1) + head_dim + 1;
}

void PerformerState::begin() {
  std::fill_n(memory_, size(m_, width_), 0.0F);
  maximum() = kMinusInfinity;
}

void PerformerState::rescale(float to) const {
  if (!(to > maximum())) return;
  const float factor = std::exp(maximum() - to);
  maximum() = to;
  Eigen::Map<RowVector>(sums(), m_ * (width_ + 1)) *= factor;
}

void PerformerState::add(const float* exponentials, const float* value) const {
  add_outer_product(exponentials, m_, value, width_, sums());
  kernels().add(exponentials, totals(), m_);
  kernels().add(value, values(), width_);
  keys() += 1.0F;
}

float PerformerState::read(const float* u, float* out) const {
  kernels().weighted_sum(u, {sums(), width_, nullptr}, m_, width_, out);
  float divisor = 0;
  kernels().dot_products(u, {totals(), m_, nullptr}, 1, m_, &divisor);
  float epsilon = 0;
  for (Index f = 0; f < m_; ++f) epsilon += u[f];
  epsilon *= kFeatureEpsilon;
  for (Index k = 0; k < width_; ++k) out[k] += epsilon * values()[k];
  return divisor + epsilon * keys();
}

}  // namespace attn
