// Memory for activations that is allocated once and used again by every batch.
#pragma once

#include "base/at.h"
#include "compute/matmul.h"

namespace attn {

/// A matrix whose memory grows and never shrinks: batches differ in size, and returning memory to
/// the system after each would cost a page fault for every 4 kB of the next.
class ActivationBuffer {
 public:
  /// [rows, columns], uninitialised where it grew.
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

}  // namespace attn
