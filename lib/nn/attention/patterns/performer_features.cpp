#include "nn/attention/patterns/performer_features.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/at.h"

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

/// s |x|² / 2, of numbers whose squares no float holds a float all the same: e to the minus of it
/// is 0 either way, and ∞ − ∞ no number. NaN where x itself is infinite.
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

}  // namespace attn
