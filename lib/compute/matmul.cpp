#include "compute/matmul.h"

#include <cstdlib>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"

namespace attn {
namespace {

/// The form that a backend's weights have on this CPU.
std::variant<PanelWeight, Int8Weight, Bfloat16Weight> form_of(Backend backend, AccumulationLength chains) {
  switch (backend) {
    case Backend::int8:
      return Int8Weight();
    case Backend::bfloat16:
      if (cpu_multiplies_bfloat16()) return Bfloat16Weight();
      return PanelWeight(chains, /*rounds=*/true);
    case Backend::panels:
      break;
  }
  return PanelWeight(chains);
}

}  // namespace

Backend default_backend() {
  static const Backend chosen = [] {
    const char* asked = std::getenv("ATTN_DEMO_BACKEND");
    const std::string_view name = asked != nullptr ? asked : "";
    if (name == "panels" || name.empty()) return Backend::panels;
    throw UsageError("ATTN_DEMO_BACKEND={}: expected panels", name);
  }();
  return chosen;
}

PackedLinear::PackedLinear(const std::vector<Parameter>& weights,
                             const std::vector<Parameter>& biases, PreparationOptions how, AccumulationLength chains)
    : weight_(form_of(how.backend, chains)) {
  prepare(weights, biases, how);
}

void PackedLinear::update(const std::vector<Parameter>& weights,
                           const std::vector<Parameter>& biases) {
  prepare(weights, biases, {});
}

void PackedLinear::prepare(const std::vector<Parameter>& weights,
                            const std::vector<Parameter>& biases, const PackingOptions& how) {
  if (weights.empty()) throw std::logic_error("a product needs a weight");
  in_ = weights.front().rows;
  out_ = 0;
  for (const Parameter& w : weights) {
    if (w.rows != in_) throw std::logic_error("weights side by side need the same input width");
    out_ += w.columns;
  }
  std::visit([&](auto& weight) { weight.pack(weights, in_, out_, how); }, weight_);
  if (biases.empty()) return;
  Index bias_columns = 0;
  for (const Parameter& b : biases) bias_columns += b.rows == 1 ? b.columns : out_ + 1;
  if (bias_columns != out_) throw std::logic_error("biases do not fit the weights");
  bias_.reserve(to_size(out_));
  Index column = 0;
  for (const Parameter& b : biases) {
    for (Index j = 0; j < b.columns; ++j) bias_.data()[column++] = b.at(0, j);
  }
}

void PackedLinear::multiply(const BatchMatmul& p) const {
  if (p.x.cols() != in_ || p.y.cols() != out_ || p.x.rows() != p.y.rows()) {
    throw std::logic_error("product of mismatched shapes");
  }
  if (p.x.rows() == 0) return;
  std::visit([&](const auto& weight) { weight.multiply(p); }, weight_);
}

std::size_t prepared_floats(const Parameter& weight, Backend backend) {
  if (backend == Backend::int8) return int8_floats(weight.rows, weight.columns);
  if (backend == Backend::bfloat16 && cpu_multiplies_bfloat16()) {
    return bfloat16_floats(weight.rows, weight.columns);
  }
  return panel_weight_floats(weight);
}

}  // namespace attn
