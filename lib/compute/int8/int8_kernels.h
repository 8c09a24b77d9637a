// The inner loops of int8 matmuls: numbers between −127 and 127, with one scale for each row of x
// and each column of the weight, summed in 32 bits. Integer sums have no rounding, and the
// conversion to floats uses the same operations everywhere, so every table gives the same bits
// (kernels.cpp queries the CPU). One file per CPU family: portable.cpp, avx2.cpp, avx_vnni.cpp,
// avx512.cpp, avx512_vnni.cpp, neon.cpp, dotprod.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"
#include "compute/kernels/kernels.h"

namespace attn {

/// Terms that a kernel processes at a time. Rows of x and columns are padded with zeros to whole
/// groups.
inline constexpr Index kInt8Group = 4;

/// Maximum terms of a sum: with terms up to 127 · 127, it stays below 2³¹.
inline constexpr Index kMostInt8Terms = Index{1} << 17;

/// Rows of a batch to be quantized.
struct Int8Source {
  const float* x;  ///< [rows, in]
  Index stride;    ///< floats from one row to the next
  Index rows;
  Index in;
};

/// Rows of x in the form that product() of the same table reads.
struct Int8Batch {
  std::int8_t* numbers;     ///< [rows, groups · group_bytes]
  float* scales;            ///< [rows]
  std::int32_t* negatives;  ///< [rows] Σ |x| of a row's negative numbers, or 0 if not needed
};

/// Computes y [rows, out] = x · W + bias. W is packed in panels of `panel_width` columns: groups ·
/// columns · terms of a group, the last panel padded with zeros.
struct Int8Matmul {
  const std::int8_t* x;  ///< from quantize_rows(), like x_scales and x_negatives
  const float* x_scales;
  const std::int32_t* x_negatives;
  Index rows;
  Index groups;
  const std::int8_t* panels;
  const float* scales;       ///< [panels · width]
  const std::int32_t* sums;  ///< [panels · width] sums of each column's numbers
  Index out;
  const float* bias;  ///< [out], or null
  float* y;
  Index y_stride;
  bool add;            ///< y += x · W + bias
  Prefetch next = {};  ///< memory that is read after the matmul
};

struct Int8Kernels {
  const char* name;
  Index panel_width;
  Index group_bytes;  ///< bytes of one group in a packed row of x

  /// Quantizes `n` numbers to int8 and returns the scale: max |x| / 127, rounded up to 16 bits so
  /// that numbers quantized before are recovered exactly. Rounds ties to even. If a number is NaN
  /// or infinite, returns NaN and writes zeros. Returns 0 if all numbers are zero or too small for
  /// a normal float as scale.
  float (*quantize)(const float* x, Index n, std::int8_t* out);

  /// Rounds each row of a batch as quantize() does, and packs it for product().
  void (*quantize_rows)(const Int8Source& from, const Int8Batch& to);

  /// Multiplies panels [first_panel, last_panel).
  void (*product)(const Int8Matmul& p, Index first_panel, Index last_panel);
};

/// Returns the running CPU's table. ATTN_DEMO_CPU works as for kernels(); if it is set, VNNI and
/// dot products are not used.
const Int8Kernels& int8_kernels();

/// Returns all tables that this CPU can run, from the portable one to the fastest.
std::vector<const Int8Kernels*> all_int8_kernels();

extern const Int8Kernels portable_int8_table;
extern const Int8Kernels avx2_int8_table;
extern const Int8Kernels avx_vnni_int8_table;
extern const Int8Kernels avx512_int8_table;
extern const Int8Kernels avx512_vnni_int8_table;
extern const Int8Kernels neon_int8_table;
extern const Int8Kernels dotprod_int8_table;

}  // namespace attn
