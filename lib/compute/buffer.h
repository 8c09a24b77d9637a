// Memory for activations that is reused by every batch.
#pragma once

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/at.h"
#include "compute/matmul.h"
#include "compute/parameter.h"
#include "compute/tensor.h"

namespace attn {

/// A matrix whose memory grows and never shrinks. Batches differ in size, and returning memory to
/// the system after each would make the next one request it again, 4 kB at a time.
class ActivationBuffer {
 public:
  /// Returns a [rows, columns] view; newly allocated memory is uninitialized.
  MatrixRef resize(Index rows, Index columns) {
    memory_.reserve(to_size(rows * columns));
    rows_ = rows;
    columns_ = columns;
    return *this;
  }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }
  float* row(Index t) const { return memory_.data() + t * columns_; }

  operator MatrixRef() const { return Eigen::Map<Matrix>(memory_.data(), rows_, columns_); }
  operator ConstMatrixRef() const {
    return Eigen::Map<const Matrix>(memory_.data(), rows_, columns_);
  }
  MatrixRef view() const { return *this; }

 private:
  AlignedFloats memory_;
  Index rows_ = 0;
  Index columns_ = 0;
};

// Rows of numbers in memory that grows and keeps its content.

class GrowableMatrix {
 public:
  explicit GrowableMatrix(Index columns) : columns_(columns) {}

  /// Makes room for `rows` rows. Allocates exactly that the first time and at least half as much
  /// again later, so rows that arrive one by one are seldom copied.
  void reserve(Index rows) {
    if (rows <= rows_) return;
    const Index room = rows_ == 0 ? rows : std::max(rows, rows_ + rows_ / 2);
    AlignedFloats larger(to_size(room * columns_));
    if (rows_ > 0) std::memcpy(larger.data(), row(0), to_size(rows_ * columns_) * sizeof(float));
    memory_ = std::move(larger);
    rows_ = room;
  }

  float* row(Index r) const { return memory_.data() + r * columns_; }
  Index rows() const { return rows_; }
  Index columns() const { return columns_; }

  /// Returns `count` rows beginning at `first`.
  MatrixRef part(Index first, Index count) const {
    return Eigen::Map<Matrix>(row(first), count, columns_);
  }

 private:
  Index columns_;
  Index rows_ = 0;
  AlignedFloats memory_;  ///< [rows, columns]
};

}  // namespace attn
