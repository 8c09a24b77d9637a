// Products in bfloat16 for CPUs with AMX: 16 × 16 results at a time, in eight tile registers.
#include <immintrin.h>

#include "compute/tile_kernels.h"

// As in kernels_avx512.cpp: from here to the table everything is for these CPUs, and this file's
// own.
#ifdef __clang__
#pragma clang attribute push(                                                          \
    __attribute__((target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx512bf16,amx-tile,amx-bf16")
#endif

namespace attn {
namespace {

/// The eight registers: 16 rows of 64 bytes each (palette 1).
alignas(64) constexpr std::uint8_t kTiles[64] = {
    1,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0, 0,  0, 0,  0,  // palette, first row
    64, 0,  64, 0,  64, 0,  64, 0,  64, 0, 64, 0, 64, 0, 64, 0,  // bytes of a row, 16 bits each
    0,  0,  0,  0,  0,  0,  0,  0,  0,  0, 0,  0, 0,  0, 0,  0,
    16, 16, 16, 16, 16, 16, 16, 16, 0,  0, 0,  0, 0,  0, 0,  0};  // rows

inline Index smaller(Index a, Index b) {
  return a < b ? a : b;
}

inline __mmask16 first_lanes(Index n) {
  return n >= 16 ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << n) - 1U);
}

/// 16 rows of 16 pairs become 16 rows of the other side.
inline void transpose_pairs(__m512i rows[16]) {
  // Blocks of 2, 4, 8 and 16 rows change places in turn.
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    rows[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    rows[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    rows[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    rows[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 16; i += 8) {
    for (int j = 0; j < 4; ++j) {
      t[i + j] = _mm512_shuffle_i32x4(rows[i + j], rows[i + j + 4], 0x88);
      t[i + j + 4] = _mm512_shuffle_i32x4(rows[i + j], rows[i + j + 4], 0xDD);
    }
  }
  for (int j = 0; j < 8; ++j) {
    rows[j] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0x88);
    rows[j + 8] = _mm512_shuffle_i32x4(t[j], t[j + 8], 0xDD);
  }
}

/// Row i: the pairs of side `first + i`, terms [term, term + 32).
inline void load_sides(const TileSource& s, Index first, Index term, __m512i rows[16]) {
  const Index sides = smaller(kTileSide, s.sides - first);
  const Index terms = smaller(kTileTerms, s.terms - term);
  const __mmask16 low = first_lanes(terms);
  const __mmask16 high = terms > 16 ? first_lanes(terms - 16) : __mmask16{0};
  for (Index i = 0; i < kTileSide; ++i) {
    if (i >= sides) {
      rows[i] = _mm512_setzero_si512();
      continue;
    }
    const float* from = s.data + (first + i) * s.stride + term;
    const __m512 begin = _mm512_maskz_loadu_ps(low, from);
    const __m512 end = high == 0 ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(high, from + 16);
    rows[i] = reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(end, begin));
  }
}

/// Row i: terms `term + 2i` and `term + 2i + 1`, interleaved, of the sides [first, first + 16).
inline void load_terms(const TileSource& s, Index first, Index term, __m512i rows[16]) {
  // clang-format off
  const __m512i interleave = _mm512_set_epi16(
      31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
      23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  // clang-format on
  const __mmask16 sides = first_lanes(s.sides - first);
  const Index terms = smaller(kTileTerms, s.terms - term);
  const float* from = s.data + term * s.stride + first;
  for (Index i = 0; i < kTileTerms; i += 2) {
    const __m512 even =
        i < terms ? _mm512_maskz_loadu_ps(sides, from + i * s.stride) : _mm512_setzero_ps();
    const __m512 odd = i + 1 < terms ? _mm512_maskz_loadu_ps(sides, from + (i + 1) * s.stride)
                                     : _mm512_setzero_ps();
    rows[i / 2] = _mm512_permutexvar_epi16(
        interleave, reinterpret_cast<__m512i>(_mm512_cvtne2ps_pbh(odd, even)));
  }
}

/// The left factor wants a row a side, the right one a row a pair of terms.
inline void pack(const TileSource& s, Index first, std::uint16_t* tiles, bool row_a_side) {
  for (Index term = 0; term < s.terms; term += kTileTerms) {
    __m512i rows[16];
    if (s.terms_adjacent) {
      load_sides(s, first, term, rows);
    } else {
      load_terms(s, first, term, rows);
    }
    if (s.terms_adjacent != row_a_side) transpose_pairs(rows);
    for (Index i = 0; i < kTileSide; ++i) {
      _mm512_store_si512(tiles + i * kTileTerms, rows[i]);
    }
    tiles += kTileSize;
  }
}

void pack_left(const TileSource& source, Index first, std::uint16_t* tiles) {
  pack(source, first, tiles, true);
}

void pack_right(const TileSource& source, Index first, std::uint16_t* tiles) {
  pack(source, first, tiles, false);
}

/// Adds a tile of results, and the bias, to where they belong; its edges may stick out.
inline void put(const float* tile, const TileProduct& p, Index row, Index column) {
  const Index rows = smaller(kTileSide, p.rows - row);
  const __mmask16 lanes = first_lanes(p.columns - column);
  const __m512 bias =
      p.bias == nullptr ? _mm512_setzero_ps() : _mm512_maskz_loadu_ps(lanes, p.bias + column);
  for (Index i = 0; i < rows; ++i) {
    float* y = p.y + (row + i) * p.y_stride + column;
    __m512 sum = _mm512_add_ps(_mm512_load_ps(tile + i * kTileSide), bias);
    if (p.add) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(lanes, y));
    _mm512_mask_storeu_ps(y, lanes, sum);
  }
}

/// 32 × 32 results: registers 0 to 3; the factors' tiles pass through 4 to 7.
inline void multiply_block(const TileProduct& p, Index row, Index column) {
  constexpr int kRow = 64;  // bytes
  const std::uint16_t* top = p.left + row / kTileSide * p.left_terms * kTileSize;
  const std::uint16_t* left = p.right + column / kTileSide * p.right_terms * kTileSize;
  // Where the second half is not there the first takes its place; its results are not put.
  const bool two_rows = row + kTileSide < p.rows;
  const bool two_columns = column + kTileSide < p.columns;
  const std::uint16_t* bottom = two_rows ? top + p.left_terms * kTileSize : top;
  const std::uint16_t* right = two_columns ? left + p.right_terms * kTileSize : left;
  float* y = p.y + row * p.y_stride + column;
  const Index below = kTileSide * p.y_stride;
  const auto stride = static_cast<std::size_t>(p.y_stride) * sizeof(float);
  const bool whole =
      p.bias == nullptr && row + 2 * kTileSide <= p.rows && column + 2 * kTileSide <= p.columns;
  if (whole && p.add) {
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
  alignas(64) float results[4][kTileSide * kTileSide];
  _tile_stored(0, results[0], kRow);
  _tile_stored(1, results[1], kRow);
  _tile_stored(2, results[2], kRow);
  _tile_stored(3, results[3], kRow);
  put(results[0], p, row, column);
  if (two_columns) put(results[1], p, row, column + kTileSide);
  if (two_rows) put(results[2], p, row + kTileSide, column);
  if (two_rows && two_columns) put(results[3], p, row + kTileSide, column + kTileSide);
}

void multiply(const TileProduct& p) {
  _tile_loadconfig(kTiles);
  for (Index column = 0; column < p.columns; column += 2 * kTileSide) {
    for (Index row = 0; row < p.rows; row += 2 * kTileSide) multiply_block(p, row, column);
  }
  _tile_release();
}

}  // namespace

#ifdef __clang__
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

}  // namespace attn

constinit const attn::TileKernels attn::amx_table = {
    .pack_left = attn::pack_left, .pack_right = attn::pack_right, .multiply = attn::multiply};
