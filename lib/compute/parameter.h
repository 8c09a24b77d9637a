// Where weights lie, and memory for them.
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

/// A weight's elements where they lie: element (i, j) of [rows, columns] at
/// data[i · row_stride + j · column_stride], or, where `data` is null, at the same place of
/// `narrow`: in the 16 bits of a file, which are widened when they are read, or in 8 bits, which
/// are multiplied by their column's scale. A bias is [1, out].
struct Parameter {
  float* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index row_stride = 0;
  Index column_stride = 0;
  const std::byte* narrow = nullptr;  ///< two bytes a number, or one, at any address
  half::Format format = half::Format::f16;
  const float* scales = nullptr;  ///< [columns] of 8 bits; null: `narrow` has 16
  bool scales_of_rows = false;    ///< [rows] instead: the matrix is seen transposed

  Index narrow_bytes() const { return scales == nullptr ? 2 : 1; }  ///< of a number in `narrow`
  bool exists() const { return data != nullptr || narrow != nullptr; }
  float at(Index i, Index j) const {
    const Index place = i * row_stride + j * column_stride;
    if (data != nullptr) return data[place];
    if (scales == nullptr) return half::widen(format, narrow + 2 * place);
    return scales[scales_of_rows ? i : j] *
           static_cast<float>(std::to_integer<signed char>(narrow[place]));
  }
  /// Its numbers as they lie in memory, which has no gaps.
  std::span<const std::byte> bytes() const {
    if (data != nullptr) return std::as_bytes(std::span(data, to_size(size())));
    return {narrow, to_size(size() * narrow_bytes())};
  }
  /// `count` numbers of column j, from row `first` on, one after another.
  void copy_column(Index j, Index first, Index count, float* out) const;
  void copy_column(Index j, float* out) const { copy_column(j, 0, rows, out); }
  /// Element (i, j), to be changed; 32 bits only.
  float& element(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
  Index size() const { return rows * columns; }
  /// Columns [first, first + count); their bytes() only where columns lie one after another
  /// (row_stride 1).
  Parameter columns_from(Index first, Index count) const;
  Parameter transposed() const {
    return {data,   columns, rows,   column_stride,  row_stride,
            narrow, format,  scales, !scales_of_rows};
  }
};

/// A Parameter of adjacent rows over someone's memory.
inline Parameter row_major(float* data, Index rows, Index columns) {
  return {data, rows, columns, columns, 1};
}

/// Memory of floats that starts on a cache line, uninitialised until written.
class AlignedFloats {
 public:
  AlignedFloats() = default;
  explicit AlignedFloats(std::size_t count);
  AlignedFloats(AlignedFloats&&) = default;
  AlignedFloats& operator=(AlignedFloats&&) = default;
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  /// Room for `count` at least; where that takes new memory, what was held is lost.
  void reserve(std::size_t count);
  /// `count` of them from `first`, a whole number of cache lines, on; they keep all of them alive.
  AlignedFloats part(std::size_t first, std::size_t count) const;

 private:
  std::shared_ptr<float[]> data_;  ///< its own, or a part of another's
  std::size_t size_ = 0;
};

/// One memory for many matrices that live as long as one another. The system gives memory in pages:
/// for thirty megabytes in pieces of less than two, seven thousand of 4 kB, one fault each; in one
/// piece fifteen.
class FloatArena {
 public:
  /// Room for `count` floats; what goes beyond is allocated piece by piece.
  explicit FloatArena(std::size_t count);
  AlignedFloats take(std::size_t count);

 private:
  AlignedFloats memory_;
  std::size_t used_ = 0;
};

/// Told of each weight, or part of one, whose numbers are not read again soon where they lie, so
/// that the memory of a mapped file may be given back meanwhile: a product has packed it, or will
/// after many others.
using PackedCallback = std::function<void(const Parameter&)>;

/// Where a product's own copy of its weights goes, and who is told that it is made.
struct PackingOptions {
  FloatArena* arena = nullptr;                  ///< null: memory of its own
  const PackedCallback* when_packed = nullptr;  ///< null, or an empty one: nobody asks

  /// Tells that these weights are not read again soon where they lie.
  void release(const std::vector<Parameter>& weights) const {
    if (when_packed == nullptr || !*when_packed) return;
    for (const Parameter& weight : weights) (*when_packed)(weight);
  }
  AlignedFloats take(std::size_t count) const {
    return arena == nullptr ? AlignedFloats(count) : arena->take(count);
  }
};

}  // namespace attn
