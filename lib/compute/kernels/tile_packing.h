// Packing bfloat16 tiles (tile_kernels.h) and storing results, for every CPU with bfloat16. Each
// file includes this among the functions that are compiled for its CPU.
#pragma once

#include <immintrin.h>

#include "compute/kernels/tile_kernels.h"

namespace attn {
namespace {

inline Index smaller(Index a, Index b) {
  return a < b ? a : b;
}

inline __mmask16 first_lanes(Index n) {
  return n >= 16 ? __mmask16{0xFFFF} : static_cast<__mmask16>((1U << n) - 1U);
}

/// Stores 16 results of a row, plus the bias, in y; clips at the edge.
inline void put(__m512 results, const TileMatmul& p, Index row, Index column) {
  const __mmask16 lanes = first_lanes(p.columns - column);
  float* y = p.y + row * p.y_stride + column;
  if (p.bias != nullptr) {
    results = _mm512_add_ps(results, _mm512_maskz_loadu_ps(lanes, p.bias + column));
  }
  if (p.add) results = _mm512_add_ps(results, _mm512_maskz_loadu_ps(lanes, y));
  _mm512_mask_storeu_ps(y, lanes, results);
}

/// Transposes 16 rows of 16 pairs.
inline void transpose_pairs(__m512i rows[16]) {
  // Swap blocks of 2, 4, 8 and 16 rows in turn.
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

/// Loads row i: the pairs of side `first + i`, terms [term, term + 32).
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

/// Loads row i: terms `term + 2i` and `term + 2i + 1`, interleaved, of the sides [first, first +
/// 16).
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

/// Packs tiles: the left factor needs one row per side, the right one a row per pair of terms.
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

}  // namespace
}  // namespace attn
