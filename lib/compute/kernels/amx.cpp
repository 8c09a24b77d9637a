// bfloat16 matmuls for CPUs with AMX: 16 × 16 results at a time, in eight tile registers.
#include <immintrin.h>

#include "compute/kernels/tile_kernels.h"

#define ATTN_TARGET "avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16"
#include "compute/kernels/begin_target.h"

#include "compute/kernels/tile_packing.h"

namespace attn {
namespace {

/// The eight registers: 16 rows of 64 bytes each (palette 1).
alignas(64) constexpr std::uint8_t kTiles[64] = {
    1,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0, 0,  0, 0,  0,  // palette, first row
    64, 0,  64, 0,  64, 0,  64, 0,  64, 0, 64, 0, 64, 0, 64, 0,  // bytes per row, 16 bits each
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0, 0,  0, 0,  0,
    16, 16, 16, 16, 16, 16, 16, 16, 0,  0, 0,  0, 0,  0, 0,  0};  // rows

/// Writes a tile of results to y, clipped at the edges.
inline void put_tile(const float* tile, const TileMatmul& p, Index row, Index column) {
  const Index rows = smaller(kTileSide, p.rows - row);
  for (Index i = 0; i < rows; ++i) put(_mm512_load_ps(tile + i * kTileSide), p, row + i, column);
}

/// Copies the partial sums from y into a tile, with 0 beyond y's edges.
inline void get_tile(float* tile, const TileMatmul& p, Index row, Index column) {
  for (Index i = 0; i < kTileSide; ++i) {
    for (Index j = 0; j < kTileSide; ++j) {
      const bool inside = row + i < p.rows && column + j < p.columns;
      tile[i * kTileSide + j] = inside ? p.y[(row + i) * p.y_stride + column + j] : 0.0F;
    }
  }
}

/// Loads four tiles from memory into registers 0 to 3.
inline void load_results(const float (*results)[kTileSide * kTileSide]) {
  constexpr int kRow = 64;  // bytes
  _tile_loadd(0, results[0], kRow);
  _tile_loadd(1, results[1], kRow);
  _tile_loadd(2, results[2], kRow);
  _tile_loadd(3, results[3], kRow);
}

/// Stores registers 0 to 3 into four tiles in memory.
inline void store_results(float (*results)[kTileSide * kTileSide]) {
  constexpr int kRow = 64;  // bytes
  _tile_stored(0, results[0], kRow);
  _tile_stored(1, results[1], kRow);
  _tile_stored(2, results[2], kRow);
  _tile_stored(3, results[3], kRow);
}

/// Computes 32 × 32 results in registers 0 to 3; the factors' tiles pass through 4 to 7.
inline void multiply_block(const TileMatmul& p, Index row, Index column) {
  constexpr int kRow = 64;  // bytes
  const std::uint16_t* top = p.left + row / kTileSide * p.left_terms * kTileSize;
  const std::uint16_t* left = p.right + column / kTileSide * p.right_terms * kTileSize;
  // If there is no second half, the first is used in its place and its results are not stored.
  const bool two_rows = row + kTileSide < p.rows;
  const bool two_columns = column + kTileSide < p.columns;
  const std::uint16_t* bottom = two_rows ? top + p.left_terms * kTileSize : top;
  const std::uint16_t* right = two_columns ? left + p.right_terms * kTileSize : left;
  float* y = p.y + row * p.y_stride + column;
  const Index below = kTileSide * p.y_stride;
  const auto stride = static_cast<std::size_t>(p.y_stride) * sizeof(float);
  const bool whole =
      p.bias == nullptr && row + 2 * kTileSide <= p.rows && column + 2 * kTileSide <= p.columns;
  alignas(64) float results[4][kTileSide * kTileSide];
  // Sums continue from the values in y. Edge blocks do this exactly as whole ones, so that a
  // result's bits do not depend on its position.
  const bool goes_on = p.add && p.bias == nullptr;
  if (!whole && goes_on) {
    for (Index i = 0; i < 4; ++i) {
      get_tile(results[i], p, row + i / 2 * kTileSide, column + i % 2 * kTileSide);
    }
    load_results(results);
  } else if (whole && p.add) {
    _tile_loadd(0, y, stride);
    _tile_loadd(1, y + kTileSide, stride);
    _tile_loadd(2, y + below, stride);
    _tile_loadd(3, y + below + kTileSide, stride);
  } else {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  for (Index k = 0; k < p.terms; ++k) {
    _tile_loadd(4, top + k * kTileSize, kRow);
    _tile_loadd(6, left + k * kTileSize, kRow);
    _tile_dpbf16ps(0, 4, 6);
    _tile_loadd(7, right + k * kTileSize, kRow);
    _tile_dpbf16ps(1, 4, 7);
    _tile_loadd(5, bottom + k * kTileSize, kRow);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  if (whole) {
    _tile_stored(0, y, stride);
    _tile_stored(1, y + kTileSide, stride);
    _tile_stored(2, y + below, stride);
    _tile_stored(3, y + below + kTileSide, stride);
    return;
  }
  store_results(results);
  TileMatmul edge = p;
  edge.add = p.add && !goes_on;
  put_tile(results[0], edge, row, column);
  if (two_columns) put_tile(results[1], edge, row, column + kTileSide);
  if (two_rows) put_tile(results[2], edge, row + kTileSide, column);
  if (two_rows && two_columns) put_tile(results[3], edge, row + kTileSide, column + kTileSide);
}

void multiply(const TileMatmul& p) {
  _tile_loadconfig(kTiles);
  for (Index column = 0; column < p.columns; column += 2 * kTileSide) {
    for (Index row = 0; row < p.rows; row += 2 * kTileSide) multiply_block(p, row, column);
  }
  _tile_release();
}

}  // namespace
}  // namespace attn

#include "compute/kernels/end_target.h"

constinit const attn::TileKernels attn::amx_table = {
    .pack_left = attn::pack_left, .pack_right = attn::pack_right, .multiply = attn::multiply};
