// One product of a batch with a prepared weight, whatever form the weight has.
#pragma once

#include "compute/kernels/kernels.h"
#include "compute/tensor.h"
#include "compute/threads.h"

namespace attn {

/// In place: what a product does to finished pieces of its rows, a number at a time.
using RowFunction = void (*)(float* x, Index n);

/// y = then(x · W + bias), or added to y.
struct BatchMatmul {
  const ConstMatrixRef& x;      ///< [T, in]
  MatrixRef& y;                 ///< [T, out]
  const float* bias = nullptr;  ///< [out], or null
  bool add = false;             ///< y += the product instead of y = it; not with `then`
  RowFunction then = nullptr;   ///< null: nothing
  Prefetch next = {};           ///< what is read after it

  /// `then` on all of y: for a form that does not do it piece by piece.
  void finish() const {
    if (then == nullptr) return;
    parallel_for(x.rows(), y.size() * 4,
                 [&](Index t) { then(y.data() + t * y.outerStride(), y.cols()); });
  }
};

}  // namespace attn
