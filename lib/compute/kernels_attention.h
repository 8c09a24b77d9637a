// The kernels of attention over tiles of keys (nn/attention/tiled_attention.h), over the same Lanes
// and under the same rules as kernels_impl.h, which includes this file. Their products are
// panel_product()'s.
#pragma once

#include "compute/four_floats.h"
#include "compute/kernels.h"

namespace attn {
namespace {

/// Four rows of `width` numbers become four columns of a panel.
inline void pack_four_columns(const float* const (&row)[4], Index width, float* panel) {
  Index k = 0;
  for (; k + 4 <= width; k += 4) {
    const Four a = load_four(row[0] + k);
    const Four b = load_four(row[1] + k);
    const Four c = load_four(row[2] + k);
    const Four d = load_four(row[3] + k);
    const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const Four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    float* to = panel + k * kPanelWidth;
    store_four(__builtin_shufflevector(ab, cd, 0, 1, 4, 5), to);
    store_four(__builtin_shufflevector(ab, cd, 2, 3, 6, 7), to + kPanelWidth);
    store_four(__builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5), to + 2 * kPanelWidth);
    store_four(__builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7), to + 3 * kPanelWidth);
  }
  for (; k < width; ++k) {
    for (Index r = 0; r < 4; ++r) panel[k * kPanelWidth + r] = row[r][k];
  }
}

void pack_columns(const GatheredRows& rows, Index n, Index width, float* panels) {
  for (Index j = 0; j < n || j % kPanelWidth != 0; j += 4) {
    float* panel = panels + j / kPanelWidth * kPanelWidth * width + j % kPanelWidth;
    if (j + 4 <= n) {
      const float* const four[4] = {gathered_row(rows, j), gathered_row(rows, j + 1),
                                    gathered_row(rows, j + 2), gathered_row(rows, j + 3)};
      pack_four_columns(four, width, panel);
      continue;
    }
    for (Index r = 0; r < 4; ++r) {
      const float* row = j + r < n ? gathered_row(rows, j + r) : nullptr;
      for (Index k = 0; k < width; ++k) {
        panel[k * kPanelWidth + r] = row != nullptr ? row[k] : 0.0F;
      }
    }
  }
}

bool pack_rows(const GatheredRows& rows, Index n, Index width, float* panels) {
  Lanes zeros = Lanes::zero();  // 0 · x, which NaN and infinity make NaN
  for (Index j = 0; j < n; ++j) {
    const float* row = gathered_row(rows, j);
    for (Index k = 0; k < width || k % kPanelWidth != 0; k += kLanes) {
      const Index left = width - k < kLanes ? width - k : kLanes;
      const Lanes value = left > 0 ? load_n(row + k, left) : Lanes::zero();
      zeros = fma(value, Lanes::zero(), zeros);
      value.store(panels + (k / kPanelWidth * n + j) * kPanelWidth + k % kPanelWidth);
    }
  }
  return sum_of_lanes(zeros) == 0.0F;
}

float exponential_of(float x) {
  float v[kLanes];
  exponential(Lanes::broadcast(x)).store(v);
  return v[0];
}

/// Row r of the block; what the row held before is scaled down where the maximum grows.
inline void softmax_row_of_block(const SoftmaxBlock& b, Index r) {
  constexpr float kMinusInfinity = -__builtin_inff();
  float* scores = b.scores + r * b.stride;
  const float raw = row_max(scores, b.n);
  const float in_block = raw * b.scale + b.bias;
  const float before = b.maximum[r];
  if (raw == kMinusInfinity) {
    for (Index j = 0; j < b.n; ++j) scores[j] = 0.0F;
    return;
  }
  if (in_block > before) {
    b.maximum[r] = in_block;
    const float factor = before == kMinusInfinity ? 0.0F : exponential_of(before - in_block);
    b.sum[r] *= factor;
    float* out = b.output + r * b.output_stride;
    const Lanes lanes = Lanes::broadcast(factor);
    if (before != kMinusInfinity) {
      for_each_lanes(b.width, [&](Index i, Index count) {
        store_n(load_n(out + i, count) * lanes, out + i, count);
      });
    }
  }
  const Lanes scale = Lanes::broadcast(b.scale);
  const Lanes shift = Lanes::broadcast(b.bias - b.maximum[r]);
  Lanes sum = Lanes::zero();
  for_each_lanes(b.n, [&](Index i, Index count) {
    const Lanes e = exponential(fma(load_n_or_minus_infinity(scores + i, count), scale, shift));
    sum = sum + e;
    store_n(e, scores + i, count);
  });
  b.sum[r] += sum_of_lanes(sum);
}

void softmax_block(const SoftmaxBlock& b) {
  for (Index r = 0; r < b.rows; ++r) softmax_row_of_block(b, r);
}

void backward_block(const BackwardBlock& b) {
  const Lanes scale = Lanes::broadcast(b.scale);
  const Lanes kept_scale = Lanes::broadcast(b.dropout != nullptr ? b.dropout->scale : 1.0F);
  for (Index r = 0; r < b.rows; ++r) {
    float* weights = b.scores + r * b.stride;
    float* dscores = b.dweights + r * b.stride;
    const bool sees_nothing = b.log_sum[r] == -__builtin_inff();
    const Lanes shift = Lanes::broadcast(sees_nothing ? 0.0F : b.bias - b.log_sum[r]);
    const Lanes delta = Lanes::broadcast(b.delta[r]);
    const std::uint32_t first = b.first + static_cast<std::uint32_t>(r) * b.row_step;
    for_each_lanes(b.n, [&](Index i, Index count) {
      const Lanes p = exponential(fma(load_n_or_minus_infinity(weights + i, count), scale, shift));
      Lanes d = load_n(dscores + i, count);
      Lanes dropped = p;
      if (b.dropout != nullptr) {
        const std::uint32_t number = first + static_cast<std::uint32_t>(i);
        dropped = zero_where_dropped(p, b.dropout->key, number, b.dropout->threshold) * kept_scale;
        d = zero_where_dropped(d, b.dropout->key, number, b.dropout->threshold) * kept_scale;
      }
      store_n(dropped, weights + i, count);
      store_n(p * (d - delta) * scale, dscores + i, count);
    });
  }
}

}  // namespace
}  // namespace attn
