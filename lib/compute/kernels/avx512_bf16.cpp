// Products in bfloat16 for CPUs that have AVX-512's instruction for pairs of it, and no tiles of
// their own: 8 × 32 results at a time, in sixteen registers.
#include <immintrin.h>

#include <cstring>

#include "compute/kernels/tile_kernels.h"

#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512bf16"
#include "compute/kernels/begin_target.h"

#include "compute/kernels/tile_packing.h"

namespace attn {
namespace {

/// Rows of results that stay in registers, half of a tile; two registers a row.
constexpr Index kRowsAtOnce = kTileSide / 2;

/// Two neighbouring terms of a row, in every lane.
inline __m512i broadcast_pair(const std::uint16_t* pair) {
  int both = 0;
  std::memcpy(&both, pair, sizeof both);
  return _mm512_set1_epi32(both);
}

inline __m512 add_pairs(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

inline void multiply_block(const TileProduct& p, Index row, Index column) {
  const std::uint16_t* rows =
      p.left + row / kTileSide * p.left_terms * kTileSize + row % kTileSide * kTileTerms;
  const std::uint16_t* left = p.right + column / kTileSide * p.right_terms * kTileSize;
  // Where the second half is not there the first takes its place; its results are not put.
  const bool two_columns = column + kTileSide < p.columns;
  const std::uint16_t* right = two_columns ? left + p.right_terms * kTileSize : left;
  __m512 first[kRowsAtOnce];
  __m512 second[kRowsAtOnce];
#pragma GCC unroll 8
  for (Index i = 0; i < kRowsAtOnce; ++i) first[i] = second[i] = _mm512_setzero_ps();
  for (Index k = 0; k < p.terms * kTileSize; k += kTileSize) {
    for (Index pair = 0; pair < kTileTerms / 2; ++pair) {
      const __m512i b = _mm512_load_si512(left + k + pair * kTileTerms);
      const __m512i c = _mm512_load_si512(right + k + pair * kTileTerms);
#pragma GCC unroll 8
      for (Index i = 0; i < kRowsAtOnce; ++i) {
        const __m512i a = broadcast_pair(rows + k + i * kTileTerms + 2 * pair);
        first[i] = add_pairs(first[i], a, b);
        second[i] = add_pairs(second[i], a, c);
      }
    }
  }
  const Index count = smaller(kRowsAtOnce, p.rows - row);
#pragma GCC unroll 8
  for (Index i = 0; i < kRowsAtOnce; ++i) {
    if (i >= count) break;
    put(first[i], p, row + i, column);
    if (two_columns) put(second[i], p, row + i, column + kTileSide);
  }
}

void multiply(const TileProduct& p) {
  for (Index column = 0; column < p.columns; column += 2 * kTileSide) {
    for (Index row = 0; row < p.rows; row += kRowsAtOnce) multiply_block(p, row, column);
  }
}

}  // namespace
}  // namespace attn

#include "compute/kernels/end_target.h"

constinit const attn::TileKernels attn::avx512_bf16_table = {
    .pack_left = attn::pack_left, .pack_right = attn::pack_right, .multiply = attn::multiply};
