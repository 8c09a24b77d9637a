// Weights in memory, and the allocation of that memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/at.h"
#include "base/index.h"
#include "compute/half.h"

namespace attn {

/// A view of a weight. Element (i, j) of [rows, columns] is at data[i · row_stride + j ·
/// column_stride] or, if `data` is null, at the same index in `narrow`: as 16 bits of a file, which
/// are widened on reading, or as int8, which is multiplied by its column's scale. A bias is [1,
/// out].
struct Parameter {
  float* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index row_stride = 0;
  Index column_stride = 0;
  const std::byte* narrow = nullptr;  ///< two bytes per number, or one; may be unaligned
  half::Format format = half::Format::f16;
  const float* scales =
      nullptr;  ///< [columns] scales of int8 numbers; null: `narrow` has 16-bit numbers
  bool scales_of_rows = false;  ///< [rows] instead: the matrix is seen transposed

  Index narrow_bytes() const { return scales == nullptr ? 2 : 1; }  ///< per number in `narrow`
  bool exists() const { return data != nullptr || narrow != nullptr; }
  float at(Index i, Index j) const {
    const Index place = i * row_stride + j * column_stride;
    if (data != nullptr) return data[place];
    if (scales == nullptr) return half::widen(format, narrow + 2 * place);
    return scales[scales_of_rows ? i : j] *
           static_cast<float>(std::to_integer<signed char>(narrow[place]));
  }
  /// Returns the weight's bytes in memory, which must be contiguous.
  std::span<const std::byte> bytes() const {
    if (data != nullptr) return std::as_bytes(std::span(data, to_size(size())));
    return {narrow, to_size(size() * narrow_bytes())};
  }
  /// Copies `count` numbers of column j, beginning at row `first`.
  void copy_column(Index j, Index first, Index count, float* out) const;
  void copy_column(Index j, float* out) const { copy_column(j, 0, rows, out); }
  /// Returns a mutable reference to element (i, j); 32 bits only.
  float& element(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
  Index size() const { return rows * columns; }
  /// Returns columns [first, first + count). Their bytes() are valid only if columns are contiguous
  /// (row_stride 1).
  Parameter columns_from(Index first, Index count) const;
  Parameter transposed() const {
    return {data,   columns, rows,   column_stride,  row_stride,
            narrow, format,  scales, !scales_of_rows};
  }
};

/// Returns a row-major view of the caller's memory.
inline Parameter row_major(float* data, Index rows, Index columns) {
  return {data, rows, columns, columns, 1};
}

/// Memory for floats, aligned to a cache line and uninitialized until written.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count);
  AlignedFloats(AlignedFloats&&) = default;
  AlignedFloats& operator=(AlignedFloats&&) = default;
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  /// Makes room for at least `count` floats; if this allocates, the old content is lost.
  void reserve(std::size_t count);
  /// Returns `count` floats beginning at `first`, a whole number of cache lines. The part keeps the
  /// whole memory alive.
  AlignedFloats part(std::size_t first, std::size_t count) const;

 private:
  std::shared_ptr<float[]> data_;  ///< its own, or part of another object's
  std::size_t size_ = 0;
};

/// One allocation for many matrices with the same lifetime. Separate matrices, of less than two
/// megabytes each, would need seven thousand 4 kB pages for thirty megabytes, and the first access
/// to each page costs time. One allocation needs fifteen huge pages.
class FloatArena {
 public:
  /// Makes room for `count` floats; anything beyond is allocated piece by piece.
  explicit FloatArena(std::size_t count);
  AlignedFloats take(std::size_t count);

 private:
  AlignedFloats memory_;
  std::size_t used_ = 0;
};

/// Called for each weight, or part of one, whose original numbers will not be read again soon,
/// because a matmul has packed them or will only later. The pages of a mapped file can then be
/// released.
using PackedCallback = std::function<void(const Parameter&)>;

/// The destination of a matmul's packed weights, and the callback for packed ones.
struct PackingOptions {
  FloatArena* arena = nullptr;                  ///< null: separate memory
  const PackedCallback* when_packed = nullptr;  ///< null or empty: no callback

  /// Reports that the original numbers of these weights will not be read again soon.
  void release(const std::vector<Parameter>& weights) const {
    if (when_packed == nullptr || !*when_packed) return;
    for (const Parameter& weight : weights) (*when_packed)(weight);
  }
  AlignedFloats take(std::size_t count) const {
    return arena == nullptr ? AlignedFloats(count) : arena->take(count);
  }
};

}  // namespace attn
