// The kernels of int8_kernels.h, written once over `Ints`, a register of 32-bit sums with one
// column per lane, and included by one source file per instruction set, like kernels/impl.h.
//
// The including file defines Ints (kColumns, v; start, add_products), Floats (load, store, +) and
// scaled() (of Ints' v), Row (four numbers of a row of x, in kBytes, in the form that add_products
// needs; load, pack), Bytes (four numbers of each column), kRegisters (number of Ints in a panel's
// width), kInt8Rows (rows per block), largest_bits() and round_all().
#pragma once

#include "compute/int8/int8_kernels.h"

namespace attn {
namespace {

std::uint32_t largest_bits(const float* x, Index n);  ///< the largest magnitude_bits()
void round_all(const float* x, float factor, Index n, std::int8_t* out);  ///< rounds x · factor

constexpr Index kInt8Width = Index{kRegisters} * Ints::kColumns;

/// Writes a row's part of the result to y. The last panel may have fewer columns.
inline void store_row(const Int8Matmul& p, const Ints (&sums)[kRegisters], Index row,
                      Index column) {
  const float scale = p.x_scales[row];
  const float* bias = p.bias == nullptr ? nullptr : p.bias + column;
  float* y = p.y + row * p.y_stride + column;
  const Index left = p.out - column;
  if (left >= kInt8Width) {
#pragma GCC unroll 4
    for (Index c = 0; c < kInt8Width; c += Ints::kColumns) {
      Floats values = scaled(sums[c / Ints::kColumns].v, scale, p.scales + column + c);
      if (bias != nullptr) values = values + Floats::load(bias + c);
      if (p.add) values = values + Floats::load(y + c);
      values.store(y + c);
    }
    return;
  }
  float values[kInt8Width];
#pragma GCC unroll 4
  for (Index c = 0; c < kInt8Width; c += Ints::kColumns) {
    scaled(sums[c / Ints::kColumns].v, scale, p.scales + column + c).store(values + c);
  }
  for (Index j = 0; j < left; ++j) {
    if (bias != nullptr) values[j] += bias[j];
    y[j] = p.add ? values[j] + y[j] : values[j];
  }
}

/// The rows of a block and its prefetches into the L2 cache. In each of its last `lines` steps, a
/// block fetches a line of the panel data that is read next (see kernels/products.h), and in each
/// of its last `next_lines` steps a line of the memory that is read after the matmul.
struct Int8Rows {
  Index first;
  Index count;
  const std::int8_t* ahead;
  Index lines;
  const char* next;
  Index next_lines;
};

template <std::size_t Rows>
[[gnu::noinline]] void int8_block(const Int8Matmul& p, const std::int8_t* panel,
                                  const Int8Rows& rows, Index column) {
  const Index row = rows.first;
  const Index stride = p.groups * Row::kBytes;
  const std::int8_t* x = p.x + row * stride;
  const std::int8_t* x3 = x + (Rows > 3 ? 3 * stride : 0);  // two pointers reach all rows
  const std::int8_t* ahead = rows.ahead;
  const char* next = rows.next;
  Ints sums[Rows][kRegisters];
#pragma GCC unroll 4
  for (Index c = 0; c < Index{kRegisters}; ++c) {
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      sums[r][c] = Ints::start(p.x_negatives[row + r], p.sums + column + c * Ints::kColumns);
    }
  }
  for (Index left = p.groups; left > 0; --left) {
    if (left <= rows.lines) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kCacheLine;
    }
    if (left <= rows.next_lines) {
      __builtin_prefetch(next, 0, 2);
      next += kCacheLine;
    }
    Bytes weights[kRegisters];
#pragma GCC unroll 4
    for (Index c = 0; c < Index{kRegisters}; ++c) {
      weights[c] = Bytes::load(panel + c * Ints::kColumns * kInt8Group);
    }
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      const Row numbers = Row::load(r < 3 ? x + r * stride : x3 + (r - 3) * stride);
#pragma GCC unroll 4
      for (Index c = 0; c < Index{kRegisters}; ++c) sums[r][c].add_products(numbers, weights[c]);
    }
    panel += kInt8Width * kInt8Group;
    x += Row::kBytes;
    x3 += Row::kBytes;
    asm("" : "+r"(x), "+r"(x3));  // otherwise GCC gives each row its own pointer, and spills
  }
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) store_row(p, sums[r], row + r, column);
}

template <std::size_t Rows>
void int8_rows(const Int8Matmul& p, const std::int8_t* panel, const Int8Rows& rows, Index column) {
  if constexpr (Rows > 0) {
    if (rows.count == Index{Rows}) {
      int8_block<Rows>(p, panel, rows, column);
    } else {
      int8_rows<Rows - 1>(p, panel, rows, column);
    }
  }
}

void int8_product(const Int8Matmul& p, Index first_panel, Index last_panel) {
  constexpr auto most = Index{kInt8Rows};
  const Index blocks = (p.rows + most - 1) / most;  // of nearly equal size
  const Index each = p.rows / blocks;
  const Index larger = p.rows % blocks;  // blocks with one extra row
  const Index size = p.groups * kInt8Group * kInt8Width;
  const Index share = (size / kCacheLine + blocks - 1) / blocks;
  const Index lines = blocks == 1 ? 0 : share < p.groups ? share : p.groups;
  const auto* next = reinterpret_cast<const char*>(p.next.first);
  const Index next_lines =
      blocks == 1 ? 0 : p.next.lines_per_chain((last_panel - first_panel) * blocks, p.groups);
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

/// Returns the bits of |x|. They order like the numbers, with NaN as the largest.
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

/// Rounds x to the nearest integer, ties to even; requires |x| < 2²².
inline std::int8_t rounded(float x) {
  constexpr float kShift = 12582912.0F;  // 1.5 · 2²³: adding it drops the fraction
  return static_cast<std::int8_t>(static_cast<std::int32_t>(x + kShift - kShift));
}

float quantize(const float* x, Index n, std::int8_t* out) {
  constexpr std::uint32_t kInfinity = 0x7f800000U;
  constexpr std::uint32_t kSmallestNormal = 0x00800000U;
  constexpr std::uint32_t kDropped = 0xffU;  // bits of a scale below its upper 16
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

void quantize_rows(const Int8Source& from, const Int8Batch& to) {
  const Index groups = (from.in + kInt8Group - 1) / kInt8Group;
  const Index padded = groups * kInt8Group;
  for (Index t = 0; t < from.rows; ++t) {
    std::int8_t* row = to.numbers + t * groups * Row::kBytes;
    std::int8_t* rounded =
        row + groups * (Row::kBytes - kInt8Group);  // the end of the row's memory
    to.scales[t] = quantize(from.x + t * from.stride, from.in, rounded);
    for (Index i = from.in; i < padded; ++i) rounded[i] = 0;
    to.negatives[t] = Row::pack(rounded, groups, row);
  }
}

constexpr Int8Kernels make_int8_table(const char* name) {
  return {name, kInt8Width, Row::kBytes, quantize, quantize_rows, int8_product};
}

}  // namespace
}  // namespace attn
