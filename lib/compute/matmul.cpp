#include "compute/matmul.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <type_traits>

#include "base/at.h"
#include "base/error.h"
#include "compute/per_thread.h"
#include "compute/tile_kernels.h"

namespace attn {
namespace {

using PlainMap = Eigen::Map<const Matrix>;

/// A panel's whole width is copied in a few instructions, without a call.
template <typename Number>
void copy_row(const std::byte* from, Number* to, Index width) {
  constexpr Index kWhole = 64;
  if (width == kWhole) {
    std::memcpy(to, from, kWhole * sizeof(Number));
  } else {
    std::memcpy(to, from, to_size(width) * sizeof(Number));
  }
}

/// Where a weight's numbers lie as they are packed: floats, or the 16 bits of a file. Null where
/// they have to be widened first.
template <typename Number>
const std::byte* numbers_of(const Parameter& w) {
  if constexpr (std::is_same_v<Number, float>) return reinterpret_cast<const std::byte*>(w.data);
  return w.narrow;
}

/// Element (i, j) as it is packed.
template <typename Number>
Number number_at(const Parameter& w, Index i, Index j) {
  if constexpr (std::is_same_v<Number, float>) return w.at(i, j);
  Number bits{};
  std::memcpy(&bits, w.narrow + (i * w.row_stride + j * w.column_stride) * Index{sizeof bits},
              sizeof bits);
  return bits;
}

/// Rows of a block: a cache line of each column's numbers, where a weight lies transposed.
constexpr Index kBlock = 16;

template <typename Number>
struct FourOf {};
template <>
struct FourOf<float> {
  using Type = float __attribute__((vector_size(16)));
};
template <>
struct FourOf<std::uint16_t> {
  using Type = std::uint16_t __attribute__((vector_size(8)));
};

/// out [4, 4] = the transpose of four columns' four numbers, from number `row` of each on.
template <typename Number>
void transpose_4(const std::byte* const* columns, Index row, Number* out, Index stride) {
  using Four = typename FourOf<Number>::Type;
  const Index at = row * Index{sizeof(Number)};
  Four a, b, c, d;
  std::memcpy(&a, columns[0] + at, sizeof a);
  std::memcpy(&b, columns[1] + at, sizeof b);
  std::memcpy(&c, columns[2] + at, sizeof c);
  std::memcpy(&d, columns[3] + at, sizeof d);
  const Four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  const Four rows[4] = {__builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7),
                        __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5),
                        __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7)};
  for (Index i = 0; i < 4; ++i) std::memcpy(out + i * stride, &rows[i], sizeof rows[i]);
}

/// Rows [row, row + kBlock) of columns [first, first + width) of a weight that lies transposed, its
/// columns' numbers side by side.
template <typename Number>
void transpose_block(const Parameter& w, Index row, Index first, Index width, Number* out,
                     Index stride) {
  const std::byte* numbers = numbers_of<Number>(w);
  float wide[4][kBlock];
  const std::byte* columns[4];
  for (Index j = 0; j < width; j += 4) {
    const Index count = std::min<Index>(4, width - j);
    for (Index c = 0; c < count; ++c) {
      const Index column = first + j + c;
      if (numbers == nullptr) {
        w.copy_column(column, row, kBlock, wide[c]);
        columns[c] = reinterpret_cast<const std::byte*>(wide[c]);
      } else {
        columns[c] = numbers + (column * w.column_stride + row) * Index{sizeof(Number)};
      }
    }
    if (count == 4) {
      for (Index i = 0; i < kBlock; i += 4) transpose_4(columns, i, out + i * stride + j, stride);
      continue;
    }
    for (Index i = 0; i < kBlock; ++i) {
      for (Index c = 0; c < count; ++c) {
        std::memcpy(out + i * stride + j + c, columns[c] + i * Index{sizeof(Number)},
                    sizeof(Number));
      }
    }
  }
}

/// Copies columns [first, first + width) of a weight to `out`, `stride` numbers a row. Blocks keep
/// both the source's and the target's cache lines in use when the weight lies transposed.
template <typename Number>
void copy_columns(const Parameter& w, Index first, Index width, Number* out, Index stride) {
  const std::byte* numbers = numbers_of<Number>(w);
  if (numbers != nullptr && w.column_stride == 1) {
    for (Index i = 0; i < w.rows; ++i) {
      copy_row(numbers + (i * w.row_stride + first) * Index{sizeof(Number)}, out + i * stride,
               width);
    }
    return;
  }
  Index done = 0;
  if (w.row_stride == 1) {
    for (; done + kBlock <= w.rows; done += kBlock) {
      transpose_block(w, done, first, width, out + done * stride, stride);
    }
  }
  for (Index i = done; i < w.rows; ++i) {
    for (Index j = 0; j < width; ++j) out[i * stride + j] = number_at<Number>(w, i, first + j);
  }
}

/// Whether a product's panels hold the 16 bits of its weights: the kernel widens what it multiplies
/// by, which gives the same bits from half the memory.
bool packs_16_bits(const std::vector<Parameter>& weights, Backend backend) {
  return backend == Backend::panels && kernels().widens &&
         std::all_of(weights.begin(), weights.end(), [](const Parameter& w) {
           return w.data == nullptr && w.scales == nullptr && w.format == half::Format::f16;
         });
}

/// Floats of memory that panels of [in, out] take.
Index panel_floats(Index in, Index out, bool of_16_bits) {
  const Index numbers = kernels().panels_of(out) * kernels().panel_width * in;
  return of_16_bits ? (numbers + 1) / 2 : numbers;
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

WeightProduct::WeightProduct(const std::vector<Parameter>& weights,
                             const std::vector<Parameter>& biases, Preparation how, Chains chains)
    : backend_(how.backend), chains_(chains) {
  prepare(weights, biases, how.arena);
}

void WeightProduct::update(const std::vector<Parameter>& weights,
                           const std::vector<Parameter>& biases) {
  prepare(weights, biases, nullptr);
}

void WeightProduct::prepare(const std::vector<Parameter>& weights,
                            const std::vector<Parameter>& biases, FloatArena* arena) {
  if (weights.empty()) throw std::logic_error("a product needs a weight");
  in_ = weights.front().rows;
  out_ = 0;
  for (const Parameter& w : weights) {
    if (w.rows != in_) throw std::logic_error("weights side by side need the same input width");
    out_ += w.columns;
  }
  if (backend_ == Backend::bfloat16 && tile_kernels() != nullptr) {
    tiles_.pack(weights, in_, out_);
  } else if (backend_ == Backend::int8) {
    int8_.pack(weights, in_, out_, arena);
  } else if (backend_ == Backend::panels || backend_ == Backend::bfloat16) {
    of_16_bits_ = packs_16_bits(weights, backend_);
    of_16_bits_ ? pack<std::uint16_t>(weights, arena) : pack<float>(weights, arena);
  } else {
    lay_out(weights, arena);
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

void WeightProduct::lay_out(const std::vector<Parameter>& weights, FloatArena* arena) {
  reserve(weight_, in_ * out_, arena);
  Index column = 0;
  for (const Parameter& w : weights) {
    constexpr Index block = 64;
    const Index blocks = (w.columns + block - 1) / block;
    parallel_for(blocks, w.size(), [&](Index b) {
      const Index first = b * block;
      copy_columns(w, first, std::min(block, w.columns - first), weight_.data() + column + first,
                   out_);
    });
    column += w.columns;
  }
}

std::size_t prepared_floats(const Parameter& weight, Backend backend) {
  if (backend == Backend::int8) return int8_floats(weight.rows, weight.columns);
  return to_size(panel_floats(weight.rows, weight.columns, packs_16_bits({weight}, backend)));
}

template <typename Number>
void WeightProduct::pack(const std::vector<Parameter>& weights, FloatArena* arena) {
  const Index width = kernels().panel_width;
  const Index panels = kernels().panels_of(out_);
  reserve(weight_, panel_floats(in_, out_, of_16_bits_), arena);
  auto* const all = reinterpret_cast<Number*>(weight_.data());
  parallel_for(panels, in_ * out_, [&](Index p) {
    Number* panel = all + p * in_ * width;
    if ((p + 1) * width > out_) {
      std::fill_n(panel, to_size(in_ * width), Number{0});
    }
    Index first = 0;  // column of the whole product at which weight w begins
    for (const Parameter& w : weights) {
      const Index from = std::max(first, p * width);
      const Index to = std::min(first + w.columns, (p + 1) * width);
      if (from < to) copy_columns(w, from - first, to - from, panel + from - p * width, width);
      first += w.columns;
    }
    if constexpr (std::is_same_v<Number, float>) {
      if (backend_ == Backend::bfloat16) {
        std::transform(panel, panel + in_ * width, panel, round_to_bfloat16);
      }
    }
  });
}

void WeightProduct::multiply(const ConstMatrixRef& x, MatrixRef& y, bool add,
                             RowFunction then) const {
  if (x.cols() != in_ || y.cols() != out_ || x.rows() != y.rows()) {
    throw std::logic_error("product of mismatched shapes");
  }
  if (x.rows() == 0) return;
  switch (backend_) {
    case Backend::int8:
      int8_.multiply(x, bias_.size() > 0 ? bias_.data() : nullptr, y, add, then);
      return;
    case Backend::panels:
      multiply_panels(x, y, add);
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

void WeightProduct::multiply_panels(const ConstMatrixRef& x, MatrixRef& y, bool add) const {
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
      .narrow = of_16_bits_ ? reinterpret_cast<const std::uint16_t*>(weight_.data()) : nullptr};
  const Index panels = k.panels_of(out_);
  // Threads share out the panels; where there are few, also blocks of rows.
  const Index row_parts = panels >= 4 * Index{threads()}
                              ? 1
                              : std::clamp<Index>(x.rows() / (4 * k.row_block), 1, threads());
  const Index rows_each = (x.rows() / row_parts + k.row_block - 1) / k.row_block * k.row_block;
  const Index chunks = std::min(panels, 4 * Index{threads()});
  parallel_for(chunks * row_parts, x.rows() * in_ * out_, [&](Index task) {
    const Index chunk = task % chunks;
    const Index row = task / chunks * rows_each;
    if (row >= x.rows()) return;
    PanelProduct part = whole;
    part.x += row * whole.x_stride;
    part.y += row * whole.y_stride;
    part.rows =
        task / chunks == row_parts - 1 ? x.rows() - row : std::min(rows_each, x.rows() - row);
    multiply_in_parts(part, panels * chunk / chunks, panels * (chunk + 1) / chunks);
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
                           .strips = true};
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
