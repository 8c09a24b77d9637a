// A matrix multiplication of a batch with a prepared weight of any form.
#pragma once

#include "compute/kernels/kernels.h"
#include "compute/tensor.h"
#include "compute/threads.h"

namespace attn {

/// An element-wise function that a matmul applies in place to finished parts of its result.
using RowFunction = void (*)(float* x, Index n);

/// y = then(x · W + bias), or y += x · W + bias.
struct BatchMatmul {
  const ConstMatrixRef& x;      ///< [T, in]
  MatrixRef& y;                 ///< [T, out]
  const float* bias = nullptr;  ///< [out], or null
  bool add = false;             ///< y += x · W + bias; not with `then`
  RowFunction then = nullptr;   ///< null: none
  Prefetch next = {};           ///< memory that is read next

  /// Applies `then` to all of y, for forms that do not apply it part by part.
  void finish() const {
    if (then == nullptr) return;
    parallel_for(x.rows(), y.size() * 4,
                 [&](Index t) { then(y.data() + t * y.outerStride(), y.cols()); });
  }
};

}  // namespace attn
