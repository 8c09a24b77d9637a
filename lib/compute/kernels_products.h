// Products with panels, over the same Lanes and under the same rules as kernels_impl.h, which
// includes this file.
//
// One block of `Rows` rows by one panel stays in registers while `in` runs; each step costs one
// load of the panel's row and one broadcast a row of x. The loops over registers must be unrolled
// at every optimisation level: a register has no index.
#pragma once

#include "compute/kernels.h"

namespace attn {
namespace {

/// Adds a finished chain to y: the first one founds the sum, the last one brings the bias.
template <std::size_t Rows>
inline void add_chain(const PanelProduct& p, const Lanes (&sum)[Rows][kPanelLanes], Index row,
                      Index column, bool first_chain, bool last_chain) {
#pragma GCC unroll 8
  for (Index c = 0; c < kPanelLanes; ++c) {
    const Index first = column + c * kLanes;
    const Index left = p.out - first < kLanes ? p.out - first : kLanes;
    if (left <= 0) break;
    const bool add_bias = last_chain && p.bias != nullptr;
    const Lanes bias = add_bias ? load_n(p.bias + first, left) : Lanes::zero();
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      float* y = p.y + (row + r) * p.y_stride + first;
      Lanes value = sum[r][c];
      if (!first_chain) value = load_n(y, left) + value;
      if (add_bias) value = value + bias;
      store_n(value, y, left);
    }
  }
}

constexpr Index kCacheLine = 64;  // bytes

/// One chain of a block: its terms [start, start + chain). Element k of row r lies at
/// x[r · row_stride + k · Step]: Step is 1 for rows as they are, and kRowBlock for strips. A Weight
/// is a float, or 16 bits that are widened as they are loaded. Each step of a whole block fetches
/// one line from `ahead` on into the second cache.
template <std::size_t Rows, Index Step, typename Weight>
void block_product(const PanelProduct& p, const Weight* panel, const char* ahead, Index row,
                   Index column, Index start) {
  constexpr bool strips = Step != 1;
  const Index row_stride = strips ? 1 : p.x_stride;
  const float* x = p.x + row * (strips ? p.in : p.x_stride);
  const Index end = start + p.chain < p.in ? start + p.chain : p.in;
  Lanes sum[Rows][kPanelLanes];
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) sum[r][c] = Lanes::zero();
  }
  for (Index k = start; k < end; ++k) {
    if constexpr (Rows == kRowBlock) __builtin_prefetch(ahead + k * kCacheLine, 0, 2);
    Lanes value[Rows];
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      value[r] = Lanes::broadcast(x[r * row_stride + k * Step]);
    }
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) {
      const Lanes w = Lanes::load(panel + k * kPanelWidth + c * kLanes);
#pragma GCC unroll 8
      for (Index r = 0; r < Index{Rows}; ++r) sum[r][c] = fma(value[r], w, sum[r][c]);
    }
  }
  add_chain<Rows>(p, sum, row, column, start == 0 && !p.add, end == p.in);
}

template <std::size_t Rows, Index Step, typename Weight>
void remaining_rows(const PanelProduct& p, const Weight* panel, Index row, Index column,
                    Index start) {
  if constexpr (Rows > 0) {
    if (p.rows - row == Index{Rows}) {
      block_product<Rows, Step>(p, panel, nullptr, row, column, start);
    } else {
      remaining_rows<Rows - 1, Step>(p, panel, row, column, start);
    }
  }
}

/// A chain's part of the panel stays in the first cache while a group of rows passes by it. And
/// each block of rows brings a part of the `next` panel: one that comes from memory or the last
/// cache would otherwise hold up its first block.
template <Index Step, typename Weight>
void rows_of_panel(const PanelProduct& p, const Weight* panel, const Weight* next, Index column) {
  constexpr Index kGroup = 8 * kRowBlock;
  constexpr Index kParts = kPanelWidth * Index{sizeof(Weight)} / kCacheLine;
  for (Index first = 0; first < p.rows; first += kGroup) {
    const Index last = first + kGroup < p.rows ? first + kGroup : p.rows;
    for (Index start = 0; start < p.in; start += p.chain) {
      Index row = first;
      for (; row + kRowBlock <= last; row += kRowBlock) {
        const Index part = row / kRowBlock;
        const char* ahead = reinterpret_cast<const char*>(part < kParts ? next : panel) +
                            (part < kParts ? part * p.in * kCacheLine : 0);
        block_product<kRowBlock, Step>(p, panel, ahead, row, column, start);
      }
      if (row < last) remaining_rows<kRowBlock - 1, Step>(p, panel, row, column, start);
    }
  }
}

template <Index Step, typename Weight>
void product_of_panels(const PanelProduct& p, const Weight* panels, Index first, Index last) {
  const Index size = p.panel_rows * kPanelWidth;
  for (Index index = first; index < last; ++index) {
    const Weight* panel = panels + index * size;
    rows_of_panel<Step>(p, panel, index + 1 < last ? panel + size : panel, index * kPanelWidth);
  }
}

void panel_product(const PanelProduct& p, Index first_panel, Index last_panel) {
  if constexpr (kWidens) {
    if (p.narrow != nullptr) return product_of_panels<1>(p, p.narrow, first_panel, last_panel);
  }
  if (p.strips) return product_of_panels<kRowBlock>(p, p.panels, first_panel, last_panel);
  product_of_panels<1>(p, p.panels, first_panel, last_panel);
}

}  // namespace
}  // namespace attn
