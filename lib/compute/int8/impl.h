// The kernels of int8_kernels.h, written once over `Ints`, a register of 32-bit sums of as many
// columns, and included by one source file an instruction set, as kernels/impl.h is.
//
// The includer defines Ints (kColumns, v; start, add_products), store_floats (of Ints' v), Row
// (four numbers of a row of x, made for add_products), Bytes (four numbers of each column),
// kRegisters (of Ints in a panel's width), kInt8Rows (that a block computes), largest_bits() and
// round_all().
#pragma once

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

std::uint32_t largest_bits(const float* x, Index n);  ///< the largest of magnitude_bits()
void round_all(const float* x, float factor, Index n, std::int8_t* out);  ///< of x · factor

constexpr Index kInt8Width = Index{kRegisters} * Ints::kColumns;

/// A row's share of the result to y. Whole: of a panel whose columns are all there, so that the
/// loops have a length that the compiler knows.
template <bool Whole>
inline void store_values(const Int8Product& p, float (&values)[kInt8Width], Index row,
                         Index column) {
  const Index left = Whole ? kInt8Width : p.out - column;
  float* y = p.y + row * p.y_stride + column;
  if (p.bias != nullptr) {
    for (Index j = 0; j < left; ++j) values[j] += p.bias[column + j];
  }
  if (p.add) {
    for (Index j = 0; j < left; ++j) values[j] += y[j];
  }
  for (Index j = 0; j < left; ++j) y[j] = values[j];
}

inline void store_row(const Int8Product& p, const Ints (&sums)[kRegisters], Index row,
                      Index column) {
  float values[kInt8Width];
#pragma GCC unroll 4
  for (Index c = 0; c < Index{kRegisters}; ++c) {
    store_floats(sums[c].v, p.x_scales[row], p.scales + column + c * Ints::kColumns,
                 values + c * Ints::kColumns);
  }
  if (p.out - column >= kInt8Width) {
    store_values<true>(p, values, row, column);
  } else {
    store_values<false>(p, values, row, column);
  }
}

/// A block's rows, and what it fetches into the second cache while it computes: of the panels a
/// line in each of its first `lines` steps (what lies behind one is read next, kernels/products.h),
/// and of what is read after the product in each of its first `next_lines`.
struct Int8Rows {
  Index first;
  Index count;
  const std::int8_t* ahead;
  Index lines;
  const char* next;
  Index next_lines;
};

template <std::size_t Rows>
void int8_block(const Int8Product& p, const std::int8_t* panel, const Int8Rows& rows,
                Index column) {
  const Index row = rows.first;
  const Index stride = p.groups * kInt8Group;
  const std::int8_t* x = p.x + row * stride;
  Ints sums[Rows][kRegisters];
#pragma GCC unroll 4
  for (Index c = 0; c < Index{kRegisters}; ++c) {
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      sums[r][c] = Ints::start(p.x_negatives[row + r], p.sums + column + c * Ints::kColumns);
    }
  }
  for (Index g = 0; g < p.groups; ++g) {
    if (g < rows.lines) __builtin_prefetch(rows.ahead + g * kCacheLine, 0, 2);
    if (g < rows.next_lines) __builtin_prefetch(rows.next + g * kCacheLine, 0, 2);
    Bytes weights[kRegisters];
#pragma GCC unroll 4
    for (Index c = 0; c < Index{kRegisters}; ++c) {
      weights[c] = Bytes::load(panel + (g * kInt8Width + c * Ints::kColumns) * kInt8Group);
    }
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      const Row numbers = Row::load(x + r * stride + g * kInt8Group);
#pragma GCC unroll 4
      for (Index c = 0; c < Index{kRegisters}; ++c) sums[r][c].add_products(numbers, weights[c]);
    }
  }
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) store_row(p, sums[r], row + r, column);
}

template <std::size_t Rows>
void int8_rows(const Int8Product& p, const std::int8_t* panel, const Int8Rows& rows, Index column) {
  if constexpr (Rows > 0) {
    if (rows.count == Index{Rows}) {
      int8_block<Rows>(p, panel, rows, column);
    } else {
      int8_rows<Rows - 1>(p, panel, rows, column);
    }
  }
}

void int8_product(const Int8Product& p, Index first_panel, Index last_panel) {
  constexpr auto most = Index{kInt8Rows};
  const Index blocks = (p.rows + most - 1) / most;  // of nearly the same size
  const Index each = p.rows / blocks;
  const Index larger = p.rows % blocks;  // blocks with one row more
  const Index size = p.groups * kInt8Group * kInt8Width;
  const Index share = (size / kCacheLine + blocks - 1) / blocks;
  const Index lines = blocks == 1 ? 0 : share < p.groups ? share : p.groups;
  const auto* next = reinterpret_cast<const char*>(p.next.first);
  const Index next_lines =
      blocks == 1 ? 0 : p.next.lines_of_chain((last_panel - first_panel) * blocks, p.groups);
  for (Index index = first_panel; index < last_panel; ++index) {
    const std::int8_t* panel = p.panels + index * size;
    Index row = 0;
    for (Index block = 0; block < blocks; ++block) {
      const Index count = each + (block < larger ? 1 : 0);
      const std::int8_t* ahead = panel + size + block * lines * kCacheLine;
      int8_rows<kInt8Rows>(p, panel, {row, count, ahead, lines, next, next_lines},
                           index * kInt8Width);
      next += next_lines * kCacheLine;
      row += count;
    }
  }
}

/// The bits of |x|: of two numbers the larger has the larger ones, and NaN the largest.
inline std::uint32_t magnitude_bits(float x) {
  std::uint32_t bits = 0;
  __builtin_memcpy(&bits, &x, sizeof bits);
  return bits & 0x7fffffffU;
}

inline float float_of(std::uint32_t bits) {
  float x = 0;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// x to the nearest whole number, ties to even; |x| < 2²².
inline std::int8_t rounded(float x) {
  constexpr float kShift = 12582912.0F;  // 1.5 · 2²³: what is added to it loses its fraction
  return static_cast<std::int8_t>(static_cast<std::int32_t>(x + kShift - kShift));
}

float quantize(const float* x, Index n, std::int8_t* out) {
  constexpr std::uint32_t kInfinity = 0x7f800000U;
  constexpr std::uint32_t kSmallestNormal = 0x00800000U;
  constexpr std::uint32_t kDropped = 0xffU;  // bits of a scale beyond 16
  const std::uint32_t largest = largest_bits(x, n);
  const float quotient = float_of(largest) / 127.0F;
  const std::uint32_t scale_bits = (magnitude_bits(quotient) + kDropped) & ~kDropped;
  if (largest >= kInfinity || scale_bits < kSmallestNormal) {
    for (Index i = 0; i < n; ++i) out[i] = 0;
    return largest >= kInfinity ? float_of(0x7fc00000U) : 0.0F;
  }
  const float scale = float_of(scale_bits);
  round_all(x, 1.0F / scale, n, out);
  return scale;
}

constexpr Int8Kernels make_int8_table(const char* name) {
  return {name, kInt8Width, quantize, int8_product};
}

}  // namespace
}  // namespace attn
