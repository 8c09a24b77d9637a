// Where weights lie, and memory for them.
#pragma once

#include <cstddef>
#include <memory>

#include "base/index.h"

namespace attn {

/// A weight's elements where they lie: element (i, j) of [rows, columns] at
/// data[i · row_stride + j · column_stride]. A bias is [1, out].
struct Parameter {
  float* data = nullptr;
  Index rows = 0;
  Index columns = 0;
  Index row_stride = 0;
  Index column_stride = 0;

  float& at(Index i, Index j) const { return data[i * row_stride + j * column_stride]; }
  Index size() const { return rows * columns; }
  Parameter transposed() const { return {data, columns, rows, column_stride, row_stride}; }
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
  float* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(float* p) const;
  };
  std::unique_ptr<float[], Free> data_;
  std::size_t size_ = 0;
};

}  // namespace attn
