// The residual connection's sum.
#pragma once

#include "compute/tensor.h"

namespace attn {

/// y += x, row by row. x, y [T, D].
void add_rows(const ConstMatrixRef& x, MatrixRef y);

}  // namespace attn
