// The inner loops of bfloat16 matmuls, on CPUs that multiply whole tiles (Intel's AMX, amx.cpp) or
// registers of pairs (AVX-512's, avx512_bf16.cpp); kernels.cpp queries the CPU. Both use the same
// tiles.
//
// A tile is 16 rows of 64 bytes. For the left factor it holds 16 rows and 32 columns. For the right
// one it holds 32 rows and 16 columns, with two rows interleaved ("pairs"), because the
// instructions multiply pairs: sum += a[2k] · b[2k] + a[2k + 1] · b[2k + 1], in float32 (Intel,
// Software Developer's Manual, TDPBF16PS and VDPBF16PS). Tiles at the edge of a factor are padded
// with zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"

namespace attn {

/// Rows, or columns, of a result tile.
inline constexpr Index kTileSide = 16;
/// Terms of each sum in one tile of a factor.
inline constexpr Index kTileTerms = 32;
/// Numbers in a factor's tile.
inline constexpr Index kTileSize = kTileSide * kTileTerms;

/// Returns the tiles that cover n rows or columns; term_tiles() those that cover n terms.
inline Index side_tiles(Index n) {
  return (n + kTileSide - 1) / kTileSide;
}
inline Index term_tiles(Index n) {
  return (n + kTileTerms - 1) / kTileTerms;
}

/// A factor in memory, seen as `sides` rows (left factor) or columns (right factor) of `terms`
/// terms each.
struct TileSource {
  const float* data;
  Index stride;  ///< from one side to the next, or from one term to the next
  Index sides;
  Index terms;
  bool terms_adjacent;  ///< true if the stride is between sides, false if between terms
};

/// Computes y [rows, columns] = left · right + bias, or adds to y.
struct TileMatmul {
  const std::uint16_t* left;   ///< tiles of 16 rows, each with all of its terms
  const std::uint16_t* right;  ///< tiles of 16 columns, each with all of its terms
  Index rows;
  Index columns;
  Index left_terms;   ///< tiles between successive groups of 16 rows of `left`
  Index right_terms;  ///< tiles between successive groups of 16 columns of `right`
  Index terms;        ///< tiles to multiply, of each
  const float* bias;  ///< [columns], or null
  float* y;
  Index y_stride;
  bool add;
};

struct TileKernels {
  /// Rounds up to 16 sides of a factor, [first, first + 16), to bfloat16 (to nearest, ties to even;
  /// values too small for a normal float32 become 0) and writes their tiles one after another.
  void (*pack_left)(const TileSource& source, Index first, std::uint16_t* tiles);
  void (*pack_right)(const TileSource& source, Index first, std::uint16_t* tiles);

  void (*multiply)(const TileMatmul& product);
};

/// Returns the tables that this CPU has and the system permits; the last is the fastest.
std::vector<const TileKernels*> all_tile_kernels();

/// Returns the fastest table; null if there is none or ATTN_DEMO_CPU selects other kernels.
const TileKernels* tile_kernels();

extern const TileKernels avx512_bf16_table;
extern const TileKernels amx_table;

}  // namespace attn
