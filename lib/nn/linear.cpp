#include "nn/linear.h"

#include <algorithm>
#include <stdexcept>

namespace attn {
namespace {

/// Adds Σ_t x[t, j] to sums[j]. Threads share columns, so the order of the additions is fixed.
void add_column_sums(const ConstMatrixRef& x, const Parameter& sums) {
  constexpr Index kColumns = 64;
  const Index chunks = (x.cols() + kColumns - 1) / kColumns;
  parallel_for(chunks, x.size(), [&](Index chunk) {
    const Index first = chunk * kColumns;
    const Index count = std::min(kColumns, x.cols() - first);
    kernels().add_column_sums(x.data() + first, x.outerStride(), x.rows(), count,
                              sums.data + first);
  });
}

/// Returns `before` with the columns of `next` appended. The elements of `next` must follow those
/// of `before` in memory.
Parameter joined(const Parameter& before, const Parameter& next, bool transposed) {
  const bool follows = before.exists() ? next.data == before.data + before.size() : !next.exists();
  const bool adjacent = follows && next.rows == before.rows;
  const bool strides = transposed ? next.row_stride == 1 && before.row_stride == 1
                                  : next.rows == 1 && next.column_stride == 1;
  if (!adjacent || !strides) throw std::logic_error("layers to fuse do not lie side by side");
  Parameter fused = before;
  fused.columns += next.columns;
  return fused;
}

}  // namespace

Linear side_by_side(const std::vector<Linear>& layers) {
  Linear fused = layers.front();
  for (std::size_t i = 1; i < layers.size(); ++i) {
    fused.weight = joined(fused.weight, layers[i].weight, /*transposed=*/true);
    if (fused.bias.data != nullptr)
      fused.bias = joined(fused.bias, layers[i].bias, /*transposed=*/false);
  }
  return fused;
}

TrainableLinear::TrainableLinear(const Linear& parameters, const Linear& gradient, Backend backend)
    : parameters_(parameters), gradient_(gradient), backend_(backend) {
  if (parameters.weight.row_stride != 1 || gradient.weight.row_stride != 1) {
    throw std::logic_error("a trained weight lies [out, in] in memory");
  }
  const bool has_bias = parameters.bias.data != nullptr;
  forward_ =
      PackedLinear({parameters_.weight},
                   has_bias ? std::vector<Parameter>{parameters_.bias} : std::vector<Parameter>{},
                   backend, AccumulationLength::terms_256);
  backward_ =
      PackedLinear({parameters_.weight.transposed()}, {}, backend, AccumulationLength::terms_256);
}

void TrainableLinear::prepare() {
  const bool has_bias = parameters_.bias.data != nullptr;
  forward_.update({parameters_.weight},
                  has_bias ? std::vector<Parameter>{parameters_.bias} : std::vector<Parameter>{});
  backward_.update({parameters_.weight.transposed()}, {});
}

void TrainableLinear::forward(const ConstMatrixRef& x, MatrixRef y) const {
  forward_(x, y);
}

void TrainableLinear::backward(const ConstMatrixRef& x, const ConstMatrixRef& dy,
                               const InputGradient& dx) const {
  if (dx.add) {
    backward_.add(dy, dx.rows);
  } else {
    backward_(dy, dx.rows);
  }
  add_gradients(x, dy);
}

void TrainableLinear::add_gradients(const ConstMatrixRef& x, const ConstMatrixRef& dy) const {
  const Parameter& dw = gradient_.weight;  // [in, out], stored as [out, in]
  if (!dw.exists()) return;
  const Eigen::Map<Matrix> rows(dw.data, dw.columns, dw.rows);
  add_transposed_matmul(dy, x, rows, backend_);
  if (gradient_.bias.data != nullptr) add_column_sums(dy, gradient_.bias);
}

}  // namespace attn
