#include "nn/attention/patterns/performer_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"
#include "compute/threads.h"

namespace attn {

FeatureMap::FeatureMap(const Parameter& features, float scale)
    : count_(features.rows), width_(features.columns), scale_(scale) {
  const float s = std::sqrt(scale);
  Matrix rows(count_, width_ + 1);
  for (Index f = 0; f < count_; ++f) {
    for (Index k = 0; k < width_; ++k) rows(f, k) = s * features.at(f, k);
    rows(f, width_) = -1.0F;
  }
  const Kernels& k = kernels();
  columns_ = AlignedFloats(to_size(k.panels_of(count_) * k.panel_width * (width_ + 1)));
  rows_ = AlignedFloats(to_size(k.panels_of(width_) * k.panel_width * count_));
  const GatheredRows all{rows.data(), width_ + 1, nullptr};
  k.pack_columns(all, count_, width_ + 1, columns_.data());
  k.pack_rows(all, count_, width_, rows_.data());
}

namespace {

/// Returns s |x|² / 2. If the squares overflow, returns a finite float instead of ∞: exp(−result)
/// is 0 either way, and ∞ − ∞ would be NaN. Returns NaN if x itself is infinite.
float half_square(const float* x, Index width, float scale) {
  constexpr float kLargest = std::numeric_limits<float>::max() / 2;
  const float half = kernels().sum_of_squares(x, width) * scale * 0.5F;
  if (!(half > kLargest)) return half;
  const bool finite = std::all_of(x, x + width, [](float value) { return std::isfinite(value); });
  return finite ? kLargest : std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

void FeatureTile::load(const FeatureMap& map, const GatheredRows& from, Index n) {
  const Index width = map.width();
  rows_ = n;
  count_ = map.count();
  width_ = width;
  float* input = input_.reserve(kFeatureRows * (width + 1));
  for (Index r = 0; r < n; ++r) {
    const float* x = from.base + (from.rows != nullptr ? Index{from.rows[r]} : r) * from.stride;
    float* row = input + r * (width + 1);
    std::copy_n(x, width, row);
    row[width] = half_square(x, width, map.scale());
  }
  float* exponents = features_.reserve(kFeatureRows * count_);
  PanelMatmul product = panel_matmul_of(input, width + 1, map.columns(), count_, exponents);
  product.rows = n;
  run_panel_matmul(product);
  float* largest = largest_.reserve(kFeatureRows);
  for (Index r = 0; r < n; ++r) {
    const float* row = exponents + r * count_;
    largest[r] = row[kernels().arg_max(row, count_)] + input[r * (width + 1) + width];
  }
}

void FeatureTile::exponentiate(const float* maximum) {
  float* copy = maximum_.reserve(2 * kFeatureRows);
  std::copy_n(maximum, rows_, copy);
  kernels().softmax_block(
      {features(), count_, rows_, count_, 1.0F, 0.0F, copy, copy + kFeatureRows, nullptr, 0, 0});
}

void FeatureTile::exponentiate(float maximum) {
  float* copy = maximum_.reserve(2 * kFeatureRows);
  std::fill_n(copy, rows_, maximum);
  exponentiate(copy);
}

void FeatureTile::add_epsilon() {
  float* x = features();
  for (Index i = 0; i < rows_ * count_; ++i) x[i] += kFeatureEpsilon;
}

void FeatureTile::exponents_backward(const FeatureMap& map, const float* dexponents, float* dx,
                                     Index stride) {
  const Index width = map.width();
  float* back = back_.reserve(kFeatureRows * width);
  PanelMatmul product = panel_matmul_of(dexponents, count_, map.rows(), width, back);
  product.rows = rows_;
  run_panel_matmul(product);
  const float* input = input_.reserve(0);
  for (Index r = 0; r < rows_; ++r) {
    float sum = 0;
    for (Index f = 0; f < count_; ++f) sum += dexponents[r * count_ + f];
    const float* x = input + r * (width + 1);
    for (Index k = 0; k < width; ++k) {
      dx[r * stride + k] = back[r * width + k] - map.scale() * sum * x[k];
    }
  }
}

UnpaddedKeys::UnpaddedKeys(const AttentionGroup& group)
    : count_(group.keys),
      all_(group.mask.key_padding_mask.empty()),
      in_order_(all_ && group.key_rows == nullptr) {
  if (in_order_) return;
  for (Index j = 0; j < group.keys; ++j) {
    if (!all_ && at(group.mask.key_padding_mask, j) != 0) continue;
    const auto place = narrow_cast<std::int32_t>(j);
    places_.push_back(place);
    rows_.push_back(group.key_rows != nullptr ? group.key_rows[j] : place);
  }
  count_ = std::ssize(rows_);
}

GatheredRows UnpaddedKeys::from(const GatheredRows& rows, Index first) const {
  if (in_order_) return {rows.base + first * rows.stride, rows.stride, nullptr};
  return {rows.base, rows.stride, rows_.data() + first};
}

namespace {

struct KeyScratch {
  FeatureTile features;
  TileRows values;
};

struct StateScratch {
  PackedRows packed;
};

}  // namespace

void KeySums::add_up(const FeatureMap& map, const HeadRows& head, const UnpaddedKeys& keys) {
  auto& scratch = thread_instance<KeyScratch>();
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
    add_transposed_matmul(features, value_rows, sums.leftCols(width), Backend::panels);
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
  PanelMatmul product = panel_matmul_of(queries.features(), m, rows.data(), sums.cols() - 1, out);
  product.rows = queries.rows();
  run_panel_matmul(product);
  kernels().dot_products(totals.data(), {queries.features(), m, nullptr}, queries.rows(), m,
                         {divisors});
}

std::vector<CausalTile> causal_tiles(const AttentionGroup& group, const UnpaddedKeys& keys) {
  std::vector<CausalTile> tiles;
  const Index first_query = group.keys - group.queries;
  Index key = 0;
  for (Index first = 0; first < group.keys; first += kCausalRows) {
    CausalTile tile;
    tile.first = first;
    tile.end = std::min(first + kCausalRows, group.keys);
    tile.first_key = key;
    while (key < keys.count() && keys.position(key) < tile.end) ++key;
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

CausalTileMask::CausalTileMask(const CausalTile& tile, const AttentionGroup& group,
                               const UnpaddedKeys& keys, float before_it, const float* maxima_of)
    : before(before_it),
      after(tile.keys() > 0 ? maxima_of[tile.keys() - 1] : before_it),
      maxima(maxima_of) {
  const Index first_place = group.keys - group.queries + tile.first_query;
  Index key = 0;
  for (Index i = 0; i < tile.queries(); ++i) {
    while (key < tile.keys() && keys.position(tile.first_key + key) <= first_place + i) ++key;
    seen.push_back(key);
    maximum.push_back(key > 0 ? maxima[key - 1] : before);
  }
}

float CausalTileMask::of_earlier(Index i) const {
  return before == kMinusInfinity ? 0.0F : std::exp(before - at(maximum, i));
}

void CausalTileMask::take(Index i, Index keys, float* row) const {
  const Index first_hidden = at(seen, i);
  const float here = at(maximum, i);
  for (Index j = 0; j < first_hidden; ++j) {
    row[j] *= rescale_factor(maxima[j], here);
  }
  std::fill(row + first_hidden, row + keys, 0.0F);
}

void multiply(const FactorRows& x, const FactorPanels& factor, float* y, bool add) {
  PanelMatmul product = panel_matmul_of(x.first, x.in, factor.first, factor.out, y);
  product.rows = x.n;
  product.add = add;
  run_panel_matmul(product);
}

const float* PackedRows::as_rows(const float* rows, Index n, Index width) {
  const Kernels& k = kernels();
  float* panels = memory.reserve(k.panels_of(width) * k.panel_width * n);
  k.pack_rows({rows, width, nullptr}, n, width, panels);
  return panels;
}

const float* PackedRows::as_columns(const float* rows, Index n, Index width) {
  const Kernels& k = kernels();
  float* panels = memory.reserve(k.panels_of(n) * k.panel_width * width);
  k.pack_columns({rows, width, nullptr}, n, width, panels);
  return panels;
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
  const float* panels = thread_instance<StateScratch>().packed.as_rows(value, 1, width_);
  multiply({exponentials, m_, 1}, {panels, width_}, sums(), true);
  kernels().add(exponentials, totals(), m_);
  kernels().add(value, values(), width_);
  keys() += 1.0F;
}

void PerformerState::add(const CausalTileMask& tile_mask, Index n, float* exponentials,
                         const float* tile_values) const {
  rescale(tile_mask.after);
  for (Index j = 0; j < n; ++j) {
    const float later = rescale_factor(tile_mask.maxima[j], tile_mask.after);
    float* row = exponentials + j * m_;
    if (later != 1.0F) {
      for (Index f = 0; f < m_; ++f) row[f] *= later;
    }
    kernels().add(tile_values + j * width_, values(), width_);
  }
  Eigen::Map<Matrix> all(sums(), m_, width_);
  add_transposed_matmul(Eigen::Map<const Matrix>(exponentials, n, m_),
                        Eigen::Map<const Matrix>(tile_values, n, width_), all, Backend::panels);
  kernels().add_column_sums(exponentials, m_, n, m_, totals());
  keys() += static_cast<float>(n);
}

void PerformerState::read(const float* u, Index n, float* out, float* divisors) const {
  const float* panels = thread_instance<StateScratch>().packed.as_rows(sums(), m_, width_);
  multiply({u, n, m_}, {panels, width_}, out);
  kernels().dot_products(totals(), {u, m_, nullptr}, n, m_, {divisors});
}

float PerformerState::read(const float* u, float* out) const {
  kernels().weighted_sums(u, {sums(), width_, nullptr}, m_, width_, {out});
  float divisor = 0;
  kernels().dot_products(u, {totals(), m_, nullptr}, 1, m_, {&divisor});
  float epsilon = 0;
  for (Index f = 0; f < m_; ++f) epsilon += u[f];
  epsilon *= kFeatureEpsilon;
  for (Index k = 0; k < width_; ++k) out[k] += epsilon * values()[k];
  return divisor + epsilon * keys();
}

}  // namespace attn
