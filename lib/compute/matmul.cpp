#include "compute/matmul.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "compute/kernels/tile_kernels.h"
#include "compute/threads.h"

namespace attn {
namespace {

/// Returns the form of a backend's weights on this CPU.
std::variant<PanelWeight, Int8Weight, Bfloat16Weight> form_of(Backend backend,
                                                              AccumulationLength chains) {
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
                           const std::vector<Parameter>& biases, PreparationOptions how,
                           AccumulationLength chains)
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

namespace {

/// Rows of both factors that are multiplied at a time, and columns of `a`: this much of both,
/// packed, stays in the L2 cache.
constexpr Index kTransposedPart = 256;
constexpr Index kTransposedColumns = 384;

struct TransposedScratch {
  AlignedFloats strips, packed;
};

/// Computes rows [first, last) of c += aᵀ · b on this thread.
void add_transposed_rows(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef& c,
                         Index first, Index last) {
  const Kernels& k = kernels();
  const Index panels = k.panels_of(b.cols());
  auto& [strips, packed] = thread_instance<TransposedScratch>();
  strips.reserve(to_size((kTransposedColumns + k.row_block) * kTransposedPart));
  packed.reserve(to_size(panels * k.panel_width * kTransposedPart));
  for (Index start = 0; start < a.rows(); start += kTransposedPart) {
    const Index count = std::min(kTransposedPart, a.rows() - start);
    k.pack_rows({b.data() + start * b.outerStride(), b.outerStride(), nullptr}, count, b.cols(),
                packed.data());
    for (Index row = first; row < last; row += kTransposedColumns) {
      const Index rows = std::min(kTransposedColumns, last - row);
      k.pack_strips(a.data() + start * a.outerStride() + row, a.outerStride(), count, rows,
                    strips.data());
      const PanelMatmul p{.x = strips.data(),
                          .x_stride = 0,
                          .rows = rows,
                          .in = count,
                          .panels = packed.data(),
                          .out = b.cols(),
                          .bias = nullptr,
                          .y = c.data() + row * c.outerStride(),
                          .y_stride = c.outerStride(),
                          .panel_rows = count,
                          .chain = count,
                          .add = true,
                          .strips = true,
                          .fetches_ahead = true};
      k.panel_matmul(p, 0, panels);
    }
  }
}

}  // namespace

void add_transposed_matmul(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c,
                           Backend backend) {
  if (a.rows() != b.rows() || c.rows() != a.cols() || c.cols() != b.cols()) {
    throw std::logic_error("product of mismatched shapes");
  }
  if (backend == Backend::int8) throw std::logic_error("gradients are not added up in 8 bits");
  if (c.size() == 0) return;
  if (backend == Backend::bfloat16) {
    if (tile_kernels() != nullptr) {
      add_transposed_bfloat16(a, b, c);
    } else {
      add_transposed_matmul(a.unaryExpr(&round_to_bfloat16).eval(),
                            b.unaryExpr(&round_to_bfloat16).eval(), c, Backend::panels);
    }
    return;
  }
  // Threads divide the rows of c into few parts, because each packs all of b for itself.
  const Index block = kernels().row_block;
  const Index parts = Index{threads()} * (c.rows() >= 8 * kTransposedColumns ? 2 : 1);
  const Index each = ((c.rows() + parts - 1) / parts + block - 1) / block * block;
  parallel_for((c.rows() + each - 1) / each, a.rows() * a.cols() * b.cols(), [&](Index part) {
    add_transposed_rows(a, b, c, part * each, std::min((part + 1) * each, c.rows()));
  });
}

}  // namespace attn
