#include "compute/bfloat16_weight.h"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "base/at.h"
#include "compute/kernels/tile_kernels.h"
#include "compute/threads.h"

namespace attn {
namespace {

/// Terms that are multiplied at a time, so that this part of a factor's 32 rows stays in the L1
/// cache.
constexpr Index kTermsAtOnce = 1024;
/// Batch rows whose terms are packed at a time when the sum runs over the batch.
constexpr Index kRowsAtOnce = 512;
/// Rows or columns of the result per task.
constexpr Index kSidesOfTask = 256;

std::uint16_t* tiles_in(const AlignedFloats& memory) {
  return static_cast<std::uint16_t*>(static_cast<void*>(memory.data()));
}

/// Returns memory for `tiles` tiles, reused from matmul to matmul.
std::uint16_t* room_for(AlignedFloats& memory, Index tiles) {
  memory.reserve(to_size(tiles * kTileSize / 2));
  return tiles_in(memory);
}

/// Memory for the left factor's tiles when the right one is a weight.
struct LeftTiles {
  AlignedFloats memory;
};

/// Memory for the tiles of both factors when both are batches.
struct BothTiles {
  AlignedFloats left, right;
};

/// Packs a complete matrix, one factor of a multiplication, on all threads.
template <typename Pack>
void pack_all(Pack pack, const TileSource& source, std::uint16_t* tiles) {
  const Index each = term_tiles(source.terms) * kTileSize;
  constexpr Index kCostOfNumber = 4;
  parallel_for(side_tiles(source.sides), kCostOfNumber * source.sides * source.terms,
               [&](Index i) { pack(source, i * kTileSide, tiles + i * each); });
}

/// Returns the result columns per task: fewer if there are few rows, so that every thread gets
/// some.
Index columns_of_task(Index columns, Index row_tasks) {
  constexpr Index kLeast = 4 * kTileSide;
  const Index tasks = threads() == 1 ? 1 : (4 * Index{threads()} + row_tasks - 1) / row_tasks;
  const Index each = (columns / tasks + kLeast - 1) / kLeast * kLeast;
  return std::clamp(each, kLeast, kSidesOfTask);
}

/// Multiplies on the threads, in parts of the result and, within them, of the terms.
void multiply_all(const TileMatmul& whole, Index terms_at_once, RowFunction then = nullptr) {
  const Index row_tasks = (whole.rows + kSidesOfTask - 1) / kSidesOfTask;
  const Index columns = columns_of_task(whole.columns, row_tasks);
  const Index column_tasks = (whole.columns + columns - 1) / columns;
  const Index cost = whole.rows * whole.columns * whole.terms * kTileTerms / 8;
  parallel_for(row_tasks * column_tasks, cost, [&](Index task) {
    const Index row = task / column_tasks * kSidesOfTask;
    const Index column = task % column_tasks * columns;
    TileMatmul part = whole;
    part.rows = std::min(kSidesOfTask, whole.rows - row);
    part.columns = std::min(columns, whole.columns - column);
    part.y += row * whole.y_stride + column;
    for (Index term = 0; term < whole.terms; term += terms_at_once) {
      part.terms = std::min(terms_at_once, whole.terms - term);
      part.left = whole.left + (row / kTileSide * whole.left_terms + term) * kTileSize;
      part.right = whole.right + (column / kTileSide * whole.right_terms + term) * kTileSize;
      part.add = whole.add || term > 0;
      part.bias = whole.bias == nullptr || term > 0 ? nullptr : whole.bias + column;
      tile_kernels()->multiply(part);
    }
    if (then == nullptr) return;
    for (Index t = 0; t < part.rows; ++t) then(part.y + t * part.y_stride, part.columns);
  });
}

}  // namespace

float round_to_bfloat16(float x) {
  constexpr std::uint32_t kSign = 0x8000'0000U;
  constexpr std::uint32_t kExponent = 0x7F80'0000U;
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & kExponent) == 0) return std::bit_cast<float>(bits & kSign);
  if ((bits & kExponent) == kExponent) return x;  // NaN and infinity stay as they are
  const std::uint32_t half = 0x7FFFU + ((bits >> 16U) & 1U);
  return std::bit_cast<float>((bits + half) & 0xFFFF'0000U);
}

bool cpu_multiplies_bfloat16() {
  return tile_kernels() != nullptr;
}

std::size_t bfloat16_floats(Index in, Index out) {
  return to_size(side_tiles(out) * term_tiles(in) * kTileSize / 2);
}

void Bfloat16Weight::pack(const std::vector<Parameter>& weights, Index in, Index out,
                          const PackingOptions& how) {
  in_ = in;
  out_ = out;
  const Index each = term_tiles(in) * kTileSize;
  if (tiles_.size() != bfloat16_floats(in, out)) tiles_ = how.take(bfloat16_floats(in, out));
  std::uint16_t* tiles = tiles_in(tiles_);
  parallel_for(side_tiles(out), 4 * in * out,
               [&](Index i) { pack_tiles(weights, i * kTileSide, tiles + i * each); });
  how.release(weights);
}

/// Packs the 16 columns from `column` on: from a weight, or from a copy if they span two weights or
/// a file's numbers are narrow.
void Bfloat16Weight::pack_tiles(const std::vector<Parameter>& weights, Index column,
                                std::uint16_t* tiles) const {
  Index first = 0;  // first column of weight w in the whole
  for (const Parameter& w : weights) {
    const Index last = first + w.columns;
    if (column >= first && std::min(column + kTileSide, out_) <= last) {
      const bool adjacent = w.row_stride == 1;
      const TileSource source{.data = w.data,
                              .stride = adjacent ? w.column_stride : w.row_stride,
                              .sides = w.columns,
                              .terms = in_,
                              .terms_adjacent = adjacent};
      if (w.data != nullptr && (adjacent || w.column_stride == 1)) {
        tile_kernels()->pack_right(source, column - first, tiles);
        return;
      }
    }
    first = last;
  }
  Matrix copy = Matrix::Zero(kTileSide, in_);  // transposed: one column per row
  first = 0;
  for (const Parameter& w : weights) {
    for (Index j = 0; j < kTileSide; ++j) {
      const Index from = column + j - first;
      if (from >= 0 && from < w.columns) w.copy_column(from, copy.row(j).data());
    }
    first += w.columns;
  }
  tile_kernels()->pack_right({.data = copy.data(),
                              .stride = in_,
                              .sides = kTileSide,
                              .terms = in_,
                              .terms_adjacent = true},
                             0, tiles);
}

void Bfloat16Weight::multiply(const BatchMatmul& p) const {
  AlignedFloats& memory = thread_instance<LeftTiles>().memory;
  const Index terms = term_tiles(in_);
  std::uint16_t* left = room_for(memory, side_tiles(p.x.rows()) * terms);
  pack_all(tile_kernels()->pack_left,
           {.data = p.x.data(),
            .stride = p.x.outerStride(),
            .sides = p.x.rows(),
            .terms = in_,
            .terms_adjacent = true},
           left);
  multiply_all({.left = left,
                .right = tiles_in(tiles_),
                .rows = p.x.rows(),
                .columns = out_,
                .left_terms = terms,
                .right_terms = terms,
                .terms = terms,
                .bias = p.bias,
                .y = p.y.data(),
                .y_stride = p.y.outerStride(),
                .add = p.add},
               kTermsAtOnce / kTileTerms, p.then);
}

void add_transposed_bfloat16(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c) {
  auto& [left_memory, right_memory] = thread_instance<BothTiles>();
  for (Index first = 0; first < a.rows(); first += kRowsAtOnce) {
    const Index rows = std::min(kRowsAtOnce, a.rows() - first);
    const Index terms = term_tiles(rows);
    std::uint16_t* left = room_for(left_memory, side_tiles(a.cols()) * terms);
    std::uint16_t* right = room_for(right_memory, side_tiles(b.cols()) * terms);
    const auto factor = [&](const ConstMatrixRef& m) {
      return TileSource{.data = m.data() + first * m.outerStride(),
                        .stride = m.outerStride(),
                        .sides = m.cols(),
                        .terms = rows,
                        .terms_adjacent = false};
    };
    pack_all(tile_kernels()->pack_left, factor(a), left);
    pack_all(tile_kernels()->pack_right, factor(b), right);
    multiply_all({.left = left,
                  .right = right,
                  .rows = a.cols(),
                  .columns = b.cols(),
                  .left_terms = terms,
                  .right_terms = terms,
                  .terms = terms,
                  .bias = nullptr,
                  .y = c.data(),
                  .y_stride = c.outerStride(),
                  .add = true},
                 terms);
  }
}

}  // namespace attn
