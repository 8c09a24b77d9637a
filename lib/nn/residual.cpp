#include "nn/residual.h"

#include "compute/kernels/kernels.h"
#include "compute/threads.h"

namespace attn {

void add_rows(const ConstMatrixRef& x, MatrixRef y) {
  parallel_for(x.rows(), x.size(), [&](Index t) {
    kernels().add(x.data() + t * x.outerStride(), y.data() + t * y.outerStride(), x.cols());
  });
}

}  // namespace attn
