// The inner loops of products in bfloat16, on CPUs that multiply whole tiles of it (Intel's AMX,
// amx.cpp) or registers of pairs (AVX-512's, avx512_bf16.cpp); kernels.cpp asks the
// CPU. Both take the same tiles.
//
// A tile is 16 rows of 64 bytes. Of the left factor it holds 16 rows and 32 columns; of the right
// one 32 rows and 16 columns, two rows interleaved ("pairs"), because the instructions multiply
// pairs: sum += a[2k] · b[2k] + a[2k + 1] · b[2k + 1], in float32 (Intel, Software Developer's
// Manual, TDPBF16PS and VDPBF16PS). What sticks out of a factor is filled up with zeros.
#pragma once

#include <cstdint>
#include <vector>

#include "base/index.h"

namespace attn {

/// Rows, or columns, of a tile of results.
inline constexpr Index kTileSide = 16;
/// Terms that a tile of a factor holds.
inline constexpr Index kTileTerms = 32;
/// Numbers of a tile of a factor.
inline constexpr Index kTileSize = kTileSide * kTileTerms;

/// Tiles that cover n rows or columns, and n terms.
inline Index side_tiles(Index n) {
  return (n + kTileSide - 1) / kTileSide;
}
inline Index term_tiles(Index n) {
  return (n + kTileTerms - 1) / kTileTerms;
}

/// A factor as it lies in memory, seen as `sides` rows (of the left one) or columns (of the right
/// one) of `terms` terms each.
struct TileSource {
  const float* data;
  Index stride;  ///< from one side to the next, or from one term to the next
  Index sides;
  Index terms;
  bool terms_adjacent;  ///< stride leads from side to side; otherwise from term to term
};

/// y [rows, columns] = left · right + bias, or added to what y holds.
struct TileMatmul {
  const std::uint16_t* left;   ///< tiles of 16 rows, each with all of its terms
  const std::uint16_t* right;  ///< tiles of 16 columns, each with all of its terms
  Index rows;
  Index columns;
  Index left_terms;   ///< tiles from one 16 rows of `left` to the next
  Index right_terms;  ///< tiles from one 16 columns of `right` to the next
  Index terms;        ///< tiles that are multiplied, of each
  const float* bias;  ///< [columns], or null
  float* y;
  Index y_stride;
  bool add;
};

struct TileKernels {
  /// Rounds 16 sides (or fewer) of a factor, [first, first + 16), to bfloat16 (to nearest, ties to
  /// even; what is too small for a normal float32 becomes 0) and writes its tiles one after
  /// another.
  void (*pack_left)(const TileSource& source, Index first, std::uint16_t* tiles);
  void (*pack_right)(const TileSource& source, Index first, std::uint16_t* tiles);

  void (*multiply)(const TileMatmul& product);
};

/// Those that this CPU has and its system allows; the last is the fastest.
std::vector<const TileKernels*> all_tile_kernels();

/// The fastest; null where there is none, or where ATTN_DEMO_CPU asks for other kernels.
const TileKernels* tile_kernels();

extern const TileKernels avx512_bf16_table;
extern const TileKernels amx_table;

}  // namespace attn
