// The inner loops of products in 8 bits: numbers between −127 and 127 and a scale for each row of x
// and each column of the weight; their products are added up in 32 bits. Integers have no rounding,
// and what turns the sums into floats is the same operations everywhere, so every table gives the
// same bits (kernels.cpp asks the CPU).
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"
#include "compute/kernels/kernels.h"

namespace attn {

/// Terms that a kernel takes at a time; a row of x and a column are filled up with zeros to whole
/// groups.
inline constexpr Index kInt8Group = 4;

/// Most terms of a sum: 127 · 127 of each stay below 2³¹.
inline constexpr Index kMostInt8Terms = Index{1} << 17;

/// Rows of a batch on their way to 8 bits.
struct Int8Source {
  const float* x;  ///< [rows, in]
  Index stride;    ///< floats from one row to the next
  Index rows;
  Index in;
};

/// Rows of x as product() of the same table takes them.
struct Int8Batch {
  std::int8_t* numbers;     ///< [rows, groups · group_bytes]
  float* scales;            ///< [rows]
  std::int32_t* negatives;  ///< [rows] Σ |x| of a row's negative numbers, or 0 where not needed
};

/// y [rows, out] = x · W + bias. W is packed in panels of `panel_width` columns: groups · columns ·
/// terms of a group, the last panel filled up with zeros.
struct Int8Matmul {
  const std::int8_t* x;  ///< of quantize_rows(), as are x_scales and x_negatives
  const float* x_scales;
  const std::int32_t* x_negatives;
  Index rows;
  Index groups;
  const std::int8_t* panels;
  const float* scales;       ///< [panels · width]
  const std::int32_t* sums;  ///< [panels · width] of each column's numbers
  Index out;
  const float* bias;  ///< [out], or null
  float* y;
  Index y_stride;
  bool add;            ///< y += the product instead of y = it
  Prefetch next = {};  ///< after the product
};

struct Int8Kernels {
  const char* name;
  Index panel_width;
  Index group_bytes;  ///< of a group of a row of x: its numbers, or what they are multiplied as

  /// `n` numbers as 8 bits times the scale that is returned: max |x| / 127, rounded up to 16 bits,
  /// so that numbers which were rounded once are found again exactly. Ties to even. NaN and zeros
  /// where a number is NaN or infinite; 0 where all are zero or so small that a scale would be no
  /// normal float.
  float (*quantize)(const float* x, Index n, std::int8_t* out);

  /// Each row of a batch as quantize() rounds it, in the form that product() multiplies.
  void (*quantize_rows)(const Int8Source& from, const Int8Batch& to);

  /// Panels [first, last).
  void (*product)(const Int8Matmul& p, Index first_panel, Index last_panel);
};

/// Of the running CPU; ATTN_DEMO_CPU as for kernels(), which then has neither VNNI nor dot
/// products.
const Int8Kernels& int8_kernels();

/// All that this CPU can run, the portable one first, the fastest last.
std::vector<const Int8Kernels*> all_int8_kernels();

extern const Int8Kernels portable_int8_table;     // portable.cpp
extern const Int8Kernels avx2_int8_table;         // avx2.cpp
extern const Int8Kernels avx_vnni_int8_table;     // avx_vnni.cpp
extern const Int8Kernels avx512_int8_table;       // avx512.cpp
extern const Int8Kernels avx512_vnni_int8_table;  // avx512_vnni.cpp
extern const Int8Kernels neon_int8_table;         // neon.cpp
extern const Int8Kernels dotprod_int8_table;      // dotprod.cpp

}  // namespace attn
