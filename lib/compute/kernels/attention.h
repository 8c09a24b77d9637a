// The kernels of attention, over the same Lanes and under the same rules as impl.h, which includes
// this file. They are dot products and weighted sums over gathered rows, for short sentences and
// search steps, and helpers for tiles of keys (nn/attention/tiled_attention.h), whose matmuls use
// panel_matmul().
#pragma once

#include "compute/kernels/four_floats.h"
#include "compute/kernels/kernels.h"

namespace attn {
namespace {

/// Computes the dot products of several queries and keys. Their sums are independent, so the
/// additions overlap, and each loaded key serves all queries.
template <std::size_t Queries, std::size_t Keys>
void dot_products_of(const RowBlock& queries, const float* const* keys, Index width, OutRows out) {
  Lanes sum[Queries][Keys];
#pragma GCC unroll 8
  for (Index i = 0; i < Index{Queries}; ++i) {
#pragma GCC unroll 8
    for (Index j = 0; j < Index{Keys}; ++j) sum[i][j] = Lanes::zero();
  }
  for_each_lanes(width, [&](Index k, Index n) {
    Lanes query[Queries];
#pragma GCC unroll 8
    for (Index i = 0; i < Index{Queries}; ++i) {
      query[i] = load_n(queries.first + i * queries.stride + k, n);
    }
#pragma GCC unroll 8
    for (Index j = 0; j < Index{Keys}; ++j) {
      const Lanes key = load_n(keys[j] + k, n);
#pragma GCC unroll 8
      for (Index i = 0; i < Index{Queries}; ++i) sum[i][j] = fma(query[i], key, sum[i][j]);
    }
  });
#pragma GCC unroll 8
  for (Index i = 0; i < Index{Queries}; ++i) {
    float* to = out.first + i * out.stride;
    if constexpr (Keys == 4) {
      store_sums(sum[i], to);
    } else {
#pragma GCC unroll 8
      for (Index j = 0; j < Index{Keys}; ++j) to[j] = sum_of_lanes(sum[i][j]);
    }
  }
}

inline const float* gathered_row(const GatheredRows& rows, Index j) {
  return rows.base + (rows.rows != nullptr ? Index{rows.rows[j]} : j) * rows.stride;
}

template <std::size_t Queries, std::size_t Keys>
void dot_products_with(const RowBlock& queries, const GatheredRows& keys, Index n, Index width,
                       OutRows out) {
  Index j = 0;
  for (; j + Index{Keys} <= n; j += Index{Keys}) {
    const float* some[Keys];
#pragma GCC unroll 8
    for (Index i = 0; i < Index{Keys}; ++i) some[i] = gathered_row(keys, j + i);
    dot_products_of<Queries, Keys>(queries, some, width, {out.first + j, out.stride});
  }
  for (; j < n; ++j) {
    const float* one[1] = {gathered_row(keys, j)};
    dot_products_of<Queries, 1>(queries, one, width, {out.first + j, out.stride});
  }
}

void dot_products(const RowBlock& queries, const GatheredRows& keys, Index n, Index width,
                  OutRows out) {
  Index i = 0;
  for (; kQueryBlock > 1 && i + kQueryBlock <= queries.rows; i += kQueryBlock) {
    dot_products_with<kQueryBlock, kBlockLanes>(
        {queries.first + i * queries.stride, queries.stride, kQueryBlock}, keys, n, width,
        {out.first + i * out.stride, out.stride});
  }
  for (; i < queries.rows; ++i) {
    dot_products_with<1, 4>(queries.first + i * queries.stride, keys, n, width,
                            {out.first + i * out.stride, out.stride});
  }
}

/// Computes outputs while `Groups` groups of lanes of each stay in registers and the values stream
/// past. Always inline: for one row of a short sentence a call is expensive.
template <std::size_t Rows, std::size_t Groups>
[[gnu::always_inline]] inline void weighted_sums_of(const RowBlock& weights,
                                                    const GatheredRows& values, Index n,
                                                    Index column, OutRows out) {
  Lanes sum[Rows][Groups];
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index g = 0; g < Index{Groups}; ++g) sum[r][g] = Lanes::zero();
  }
  for (Index j = 0; j < n; ++j) {
    const float* row = gathered_row(values, j) + column;
    Lanes value[Groups];
#pragma GCC unroll 8
    for (Index g = 0; g < Index{Groups}; ++g) value[g] = Lanes::load(row + g * kLanes);
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      const Lanes weight = Lanes::broadcast(weights.first[r * weights.stride + j]);
#pragma GCC unroll 8
      for (Index g = 0; g < Index{Groups}; ++g) sum[r][g] = fma(weight, value[g], sum[r][g]);
    }
  }
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index g = 0; g < Index{Groups}; ++g) {
      sum[r][g].store(out.first + r * out.stride + column + g * kLanes);
    }
  }
}

/// Computes the first `columns` columns, fewer than a group.
void narrow_weighted_sum(const float* weights, const GatheredRows& values, Index n, Index columns,
                         float* out) {
  Lanes sum = Lanes::zero();
  for (Index j = 0; j < n; ++j) {
    const Lanes value = Lanes::load_partial(gathered_row(values, j), columns);
    sum = fma(Lanes::broadcast(weights[j]), value, sum);
  }
  sum.store_partial(out, columns);
}

template <std::size_t Rows, std::size_t Groups>
void weighted_sums_with(const RowBlock& weights, const GatheredRows& values, Index n, Index width,
                        OutRows out) {
  constexpr Index together = Index{Groups} * kLanes;
  Index column = 0;
  for (; column + together <= width; column += together) {
    weighted_sums_of<Rows, Groups>(weights, values, n, column, out);
  }
  for (; column + kLanes <= width; column += kLanes) {
    weighted_sums_of<Rows, 1>(weights, values, n, column, out);
  }
  if (column == width) return;
  const GatheredRows last{values.base + column, values.stride, values.rows};
  for (Index r = 0; r < Index{Rows}; ++r) {
    narrow_weighted_sum(weights.first + r * weights.stride, last, n, width - column,
                        out.first + r * out.stride + column);
  }
}

void weighted_sums(const RowBlock& weights, const GatheredRows& values, Index n, Index width,
                   OutRows out) {
  Index r = 0;
  for (; kQueryBlock > 1 && r + kQueryBlock <= weights.rows; r += kQueryBlock) {
    weighted_sums_with<kQueryBlock, kBlockLanes>(
        {weights.first + r * weights.stride, weights.stride, kQueryBlock}, values, n, width,
        {out.first + r * out.stride, out.stride});
  }
  for (; r < weights.rows; ++r) {
    weighted_sums_with<1, 4>(weights.first + r * weights.stride, values, n, width,
                             {out.first + r * out.stride, out.stride});
  }
}

// ---------------------------------------------------------------------------------------------
// Tiles.

/// Packs four rows of `width` numbers as four columns of a panel.
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
  Lanes zeros = Lanes::zero();  // 0 · x: NaN if x is NaN or infinite
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

/// Updates row r of the block; earlier sums of the row are scaled down if the maximum grows.
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
