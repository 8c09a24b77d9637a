#include "compute/plain_weight.h"

#include "base/at.h"
#include "compute/panel_packing.h"

namespace attn {

void PlainWeight::pack(const std::vector<Parameter>& weights, Index in, Index out,
                       const Packing& how) {
  in_ = in;
  out_ = out;
  const auto floats = to_size(in * out);
  if (matrix_.data() == nullptr || matrix_.size() != floats) matrix_ = how.take(floats);
  lay_out_rows(weights, out, matrix_.data());
  how.release(weights);
}

void PlainWeight::multiply(const BatchProduct& p) const {
  if (!p.add) p.y.setZero();
  p.y.noalias() += p.x * Eigen::Map<const Matrix>(matrix_.data(), in_, out_);
  if (p.bias != nullptr) p.y.rowwise() += Eigen::Map<const RowVector>(p.bias, out_);
  p.finish();
}

}  // namespace attn
