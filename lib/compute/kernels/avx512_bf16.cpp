// bfloat16 matmuls for CPUs with AVX-512's instruction for bfloat16 pairs but no tiles: up to 8 ×
// 32 results at a time, or 4 × 64, in sixteen registers.
#include <immintrin.h>

#include <cstring>

#include "compute/kernels/tile_kernels.h"

#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512bf16"
#include "compute/kernels/begin_target.h"

#include "compute/kernels/tile_packing.h"

namespace attn {
namespace {

/// Broadcasts two adjacent terms of a row to every lane.
inline __m512i broadcast_pair(const std::uint16_t* pair) {
  int both = 0;
  std::memcpy(&both, pair, sizeof both);
  return _mm512_set1_epi32(both);
}

inline __m512 add_pairs(__m512 sum, __m512i a, __m512i b) {
  return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
}

/// The cache lines of the data multiplied next, which a block prefetches: one in each of its first
/// steps.
struct AheadLines {
  const std::uint16_t* from;
  Index lines;
};

/// Computes Rows × Tiles · 16 results. If the last tiles do not exist, the first one is used in
/// their place and its results are not stored.
template <Index Rows, Index Tiles>
[[gnu::noinline]] void multiply_block(const TileMatmul& p, Index row, Index column,
                                      AheadLines ahead) {
  const std::uint16_t* rows =
      p.left + row / kTileSide * p.left_terms * kTileSize + row % kTileSide * kTileTerms;
  const std::uint16_t* tiles[Tiles];
  __m512 sum[Rows][Tiles];
#pragma GCC unroll 4
  for (Index c = 0; c < Tiles; ++c) {
    const Index there = column + c * kTileSide < p.columns ? c : 0;
    tiles[c] = p.right + (column / kTileSide + there) * p.right_terms * kTileSize;
#pragma GCC unroll 8
    for (Index i = 0; i < Rows; ++i) sum[i][c] = _mm512_setzero_ps();
  }
  Index lines = ahead.lines;
  for (Index k = 0; k < p.terms * kTileSize; k += kTileSize) {
    for (Index pair = 0; pair < kTileTerms / 2; ++pair) {
      if (lines > 0) {
        __builtin_prefetch(ahead.from, 0, 2);
        ahead.from += kTileTerms;  // terms of a line
        --lines;
      }
      __m512i weights[Tiles];
#pragma GCC unroll 4
      for (Index c = 0; c < Tiles; ++c) {
        weights[c] = _mm512_load_si512(tiles[c] + k + pair * kTileTerms);
      }
#pragma GCC unroll 8
      for (Index i = 0; i < Rows; ++i) {
        const __m512i both = broadcast_pair(rows + k + i * kTileTerms + 2 * pair);
#pragma GCC unroll 4
        for (Index c = 0; c < Tiles; ++c) sum[i][c] = add_pairs(sum[i][c], both, weights[c]);
      }
    }
  }
#pragma GCC unroll 8
  for (Index i = 0; i < Rows; ++i) {
#pragma GCC unroll 4
    for (Index c = 0; c < Tiles; ++c) {
      const Index place = column + c * kTileSide;
      if (place < p.columns) put(sum[i][c], p, row + i, place);
    }
  }
}

/// Calls multiply_block() for `rows` rows, 1 to Rows.
template <Index Rows, Index Tiles>
void block_of_rows(Index rows, const TileMatmul& p, Index row, Index column, AheadLines ahead) {
  if constexpr (Rows > 0) {
    if (rows == Rows) {
      multiply_block<Rows, Tiles>(p, row, column, ahead);
    } else {
      block_of_rows<Rows - 1, Tiles>(rows, p, row, column, ahead);
    }
  }
}

/// Multiplies all columns in blocks of at most Most rows and Tiles tiles.
template <Index Most, Index Tiles>
void multiply_in_blocks(const TileMatmul& p) {
  const Index blocks = (p.rows + Most - 1) / Most;
  // The data after the block's tiles is multiplied next: the blocks of rows share the work of
  // prefetching it.
  const Index size = Tiles * p.right_terms * kTileSize;
  const Index share = (Tiles * p.terms * kTileSide + blocks - 1) / blocks;
  const Index lines = blocks == 1 || p.terms != p.right_terms ? 0 : share;
  for (Index column = 0; column < p.columns; column += Tiles * kTileSide) {
    const std::uint16_t* ahead = p.right + column / kTileSide * p.right_terms * kTileSize + size;
    for (Index row = 0; row < p.rows; row += Most) {
      block_of_rows<Most, Tiles>(smaller(Most, p.rows - row), p, row, column, {ahead, lines});
      ahead += lines * kTileTerms;
    }
  }
}

/// Multiplies. The bits of a result do not depend on the block that computes it.
void multiply(const TileMatmul& p) {
  if (p.rows <= 4) {
    multiply_in_blocks<4, 4>(p);
  } else {
    multiply_in_blocks<8, 2>(p);
  }
}

}  // namespace
}  // namespace attn

#include "compute/kernels/end_target.h"

constinit const attn::TileKernels attn::avx512_bf16_table = {
    .pack_left = attn::pack_left, .pack_right = attn::pack_right, .multiply = attn::multiply};
