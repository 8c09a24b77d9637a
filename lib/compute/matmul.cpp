#include "compute/matmul.h"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "base/at.h"
#include "base/error.h"
#include "compute/kernels/tile_kernels.h"
#include "compute/per_thread.h"
#include "compute/weight_panels.h"

namespace attn {
namespace {

using PlainMap = Eigen::Map<const Matrix>;

/// Whether a product's panels hold the 16 bits of its weights: the kernel widens what it multiplies
/// by, which gives the same bits from half the memory.
bool packs_16_bits(const std::vector<Parameter>& weights, Backend backend) {
  return backend == Backend::panels && kernels().widens && are_float16(weights);
}

/// Memory of exactly `count` floats, kept where it has that size already.
void reserve(AlignedFloats& memory, Index count, FloatArena* arena = nullptr) {
  const auto size = to_size(count);
  if (memory.data() != nullptr && memory.size() == size) return;
  memory = arena == nullptr ? AlignedFloats(size) : arena->take(size);
}

/// The same for scratch that may be larger than needed.
void reserve_at_least(AlignedFloats& memory, Index count) {
  if (memory.size() < to_size(count)) reserve(memory, count);
}

}  // namespace

Backend default_backend() {
  static const Backend chosen = [] {
    const char* asked = std::getenv("ATTN_DEMO_BACKEND");
    const std::string_view name = asked != nullptr ? asked : "";
    if (name == "plain") return Backend::plain;
    if (name == "panels" || name.empty()) return Backend::panels;
    throw UsageError("ATTN_DEMO_BACKEND={}: expected panels or plain", name);
  }();
  return chosen;
}

void Preparation::tell(const std::vector<Parameter>& weights) const {
  if (when_packed == nullptr || !*when_packed) return;
  for (const Parameter& weight : weights) (*when_packed)(weight);
}

WeightProduct::WeightProduct(const std::vector<Parameter>& weights,
                             const std::vector<Parameter>& biases, Preparation how, Chains chains)
    : backend_(how.backend), chains_(chains) {
  prepare(weights, biases, how);
}

void WeightProduct::update(const std::vector<Parameter>& weights,
                           const std::vector<Parameter>& biases) {
  prepare(weights, biases, backend_);
}

void WeightProduct::prepare(const std::vector<Parameter>& weights,
                            const std::vector<Parameter>& biases, const Preparation& how) {
  if (weights.empty()) throw std::logic_error("a product needs a weight");
  in_ = weights.front().rows;
  out_ = 0;
  for (const Parameter& w : weights) {
    if (w.rows != in_) throw std::logic_error("weights side by side need the same input width");
    out_ += w.columns;
  }
  if (backend_ == Backend::bfloat16 && tile_kernels() != nullptr) {
    tiles_.pack(weights, in_, out_);
    how.tell(weights);
  } else if (backend_ == Backend::int8) {
    int8_.pack(weights, in_, out_, how.arena);
    how.tell(weights);
  } else if (backend_ == Backend::panels || backend_ == Backend::bfloat16) {
    prepare_panels(weights, how);
  } else {
    reserve(weight_, in_ * out_, how.arena);
    lay_out_rows(weights, out_, weight_.data());
    how.tell(weights);
  }
  if (biases.empty()) return;
  Index bias_columns = 0;
  for (const Parameter& b : biases) bias_columns += b.rows == 1 ? b.columns : out_ + 1;
  if (bias_columns != out_) throw std::logic_error("biases do not fit the weights");
  reserve(bias_, out_);
  Index column = 0;
  for (const Parameter& b : biases) {
    for (Index j = 0; j < b.columns; ++j) bias_.data()[column++] = b.at(0, j);
  }
}

/// The largest weight, the output's, is a quarter of a small model: packed in one go, it would be
/// in memory twice. Where its columns lie one after another, some are packed and let go at a time.
void WeightProduct::prepare_panels(const std::vector<Parameter>& weights, const Preparation& how) {
  constexpr Index kColumns = 512;  // whole panels of every kernel
  of_16_bits_ = packs_16_bits(weights, backend_);
  reserve(weight_, panel_floats(in_, out_, of_16_bits_), how.arena);
  const bool in_parts = weights.size() == 1 && weights.front().row_stride == 1;
  const Index each = in_parts ? std::min(kColumns, out_) : out_;
  for (Index first = 0; first < out_; first += each) {
    const Index columns = std::min(each, out_ - first);
    const auto part =
        in_parts ? std::vector{weights.front().columns_from(first, columns)} : weights;
    if (of_16_bits_) {
      auto* panels = reinterpret_cast<std::uint16_t*>(weight_.data());
      pack_panels(part, in_, columns, panels + first * in_);
    } else {
      pack_panels(part, in_, columns, weight_.data() + first * in_,
                  backend_ == Backend::bfloat16 ? round_to_bfloat16 : nullptr);
    }
    how.tell(part);
  }
}

std::size_t prepared_floats(const Parameter& weight, Backend backend) {
  if (backend == Backend::int8) return int8_floats(weight.rows, weight.columns);
  return to_size(panel_floats(weight.rows, weight.columns, packs_16_bits({weight}, backend)));
}

void WeightProduct::multiply(const ConstMatrixRef& x, MatrixRef& y, bool add, RowFunction then,
                             const ReadNext& next) const {
  if (x.cols() != in_ || y.cols() != out_ || x.rows() != y.rows()) {
    throw std::logic_error("product of mismatched shapes");
  }
  if (x.rows() == 0) return;
  switch (backend_) {
    case Backend::int8:
      int8_.multiply(x, bias_.size() > 0 ? bias_.data() : nullptr, y, add, then, next);
      return;
    case Backend::panels:
      multiply_panels(x, y, add, next);
      break;
    case Backend::bfloat16:
      multiply_bfloat16(x, y, add);
      break;
    case Backend::plain:
      if (!add) y.setZero();
      y.noalias() += x * PlainMap(weight_.data(), in_, out_);
      if (bias_.size() > 0) y.rowwise() += Eigen::Map<const RowVector>(bias_.data(), out_);
  }
  if (then == nullptr) return;
  parallel_for(x.rows(), y.size() * 4,
               [&](Index t) { then(y.data() + t * y.outerStride(), y.cols()); });
}

namespace {

/// A panel of many rows does not stay in a core's cache while the rows of x pass by: it is taken in
/// parts. Their length is a multiple of the kernel's chains, so that the bits are those of one go.
void multiply_in_parts(const PanelProduct& whole, Index first_panel, Index last_panel) {
  constexpr Index kPart = 1024;
  const Kernels& k = kernels();
  if (whole.in <= kPart || whole.rows <= k.row_block) {
    k.panel_product(whole, first_panel, last_panel);
    return;
  }
  for (Index panel = first_panel; panel < last_panel; ++panel) {
    for (Index start = 0; start < whole.in; start += kPart) {
      PanelProduct part = whole;
      part.in = std::min(kPart, whole.in - start);
      part.x += start;
      if (part.narrow != nullptr) {
        part.narrow += start * k.panel_width;
      } else {
        part.panels += start * k.panel_width;
      }
      part.add = whole.add || start > 0;
      part.next = {};
      if (start + part.in < whole.in) part.bias = nullptr;
      k.panel_product(part, panel, panel + 1);
    }
  }
}

}  // namespace

void WeightProduct::multiply_bfloat16(const ConstMatrixRef& x, MatrixRef& y, bool add) const {
  if (tile_kernels() != nullptr) {
    tiles_.multiply(x, bias_.size() > 0 ? bias_.data() : nullptr, y, add);
  } else {
    multiply_panels(x.unaryExpr(&round_to_bfloat16).eval(), y, add);
  }
}

void WeightProduct::multiply_panels(const ConstMatrixRef& x, MatrixRef& y, bool add,
                                    const ReadNext& next) const {
  const Kernels& k = kernels();
  const PanelProduct whole{
      .x = x.data(),
      .x_stride = x.outerStride(),
      .rows = x.rows(),
      .in = in_,
      .panels = of_16_bits_ ? nullptr : weight_.data(),
      .out = out_,
      .bias = bias_.size() > 0 ? bias_.data() : nullptr,
      .y = y.data(),
      .y_stride = y.outerStride(),
      .panel_rows = in_,
      .chain = static_cast<Index>(chains_),
      .add = add,
      .fetches_ahead = true,
      .narrow = of_16_bits_ ? reinterpret_cast<const std::uint16_t*>(weight_.data()) : nullptr};
  const Index panels = k.panels_of(out_);
  // Threads share out the panels; where there are few, also blocks of rows.
  const Index row_parts = panels >= 4 * Index{threads()}
                              ? 1
                              : std::clamp<Index>(x.rows() / (4 * k.row_block), 1, threads());
  const Index rows_each = (x.rows() / row_parts + k.row_block - 1) / k.row_block * k.row_block;
  const Index chunks = std::min(panels, 4 * Index{threads()});
  const Index tasks = chunks * row_parts;
  parallel_for(tasks, x.rows() * in_ * out_, [&](Index task) {
    const Index chunk = task % chunks;
    const Index row = task / chunks * rows_each;
    if (row >= x.rows()) return;
    PanelProduct part = whole;
    part.x += row * whole.x_stride;
    part.y += row * whole.y_stride;
    part.rows =
        task / chunks == row_parts - 1 ? x.rows() - row : std::min(rows_each, x.rows() - row);
    const Index first = panels * chunk / chunks;
    const Index last = panels * (chunk + 1) / chunks;
    part.next = next.part(task, tasks);
    multiply_in_parts(part, first, last);
  });
}

namespace {

/// Rows of both factors that are multiplied at a time, and columns of `a`: so much of both, packed,
/// stays in a core's second cache.
constexpr Index kTransposedPart = 256;
constexpr Index kTransposedColumns = 384;

struct TransposedScratch {
  AlignedFloats strips, packed;
};

/// Rows [first, last) of c += aᵀ · b, on this thread.
void add_transposed_rows(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef& c,
                         Index first, Index last) {
  const Kernels& k = kernels();
  const Index panels = k.panels_of(b.cols());
  auto& [strips, packed] = of_this_thread<TransposedScratch>();
  reserve_at_least(strips, (kTransposedColumns + k.row_block) * kTransposedPart);
  reserve_at_least(packed, panels * k.panel_width * kTransposedPart);
  for (Index start = 0; start < a.rows(); start += kTransposedPart) {
    const Index count = std::min(kTransposedPart, a.rows() - start);
    k.pack_rows({b.data() + start * b.outerStride(), b.outerStride(), nullptr}, count, b.cols(),
                packed.data());
    for (Index row = first; row < last; row += kTransposedColumns) {
      const Index rows = std::min(kTransposedColumns, last - row);
      k.pack_strips(a.data() + start * a.outerStride() + row, a.outerStride(), count, rows,
                    strips.data());
      const PanelProduct p{.x = strips.data(),
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
      k.panel_product(p, 0, panels);
    }
  }
}

}  // namespace

void add_transposed_product(const ConstMatrixRef& a, const ConstMatrixRef& b, MatrixRef c,
                            Backend backend) {
  if (a.rows() != b.rows() || c.rows() != a.cols() || c.cols() != b.cols()) {
    throw std::logic_error("product of mismatched shapes");
  }
  if (backend == Backend::int8) throw std::logic_error("gradients are not added up in 8 bits");
  if (c.size() == 0) return;
  if (backend == Backend::plain) {
    c.noalias() += a.transpose() * b;
    return;
  }
  if (backend == Backend::bfloat16) {
    if (tile_kernels() != nullptr) {
      add_transposed_bfloat16(a, b, c);
    } else {
      add_transposed_product(a.unaryExpr(&round_to_bfloat16).eval(),
                             b.unaryExpr(&round_to_bfloat16).eval(), c, Backend::panels);
    }
    return;
  }
  // Threads share out the rows of c, in few parts, because each packs all of b for itself.
  const Index block = kernels().row_block;
  const Index parts = Index{threads()} * (c.rows() >= 8 * kTransposedColumns ? 2 : 1);
  const Index each = ((c.rows() + parts - 1) / parts + block - 1) / block * block;
  parallel_for((c.rows() + each - 1) / each, a.rows() * a.cols() * b.cols(), [&](Index part) {
    add_transposed_rows(a, b, c, part * each, std::min((part + 1) * each, c.rows()));
  });
}

}  // namespace attn
