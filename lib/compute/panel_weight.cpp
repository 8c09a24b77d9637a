#include "compute/panel_weight.h"

#include <unistd.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/at.h"
#include "compute/bfloat16_weight.h"
#include "compute/kernels/kernels.h"
#include "compute/threads.h"

namespace attn {
namespace {

std::uint16_t* binary16_in(const AlignedFloats& memory) {
  return reinterpret_cast<std::uint16_t*>(memory.data());
}

/// True if the panels can hold a file's 16-bit numbers as they are.
bool stay_16_bits(const std::vector<Parameter>& weights) {
  return kernels().widens && all_float16(weights);
}

/// True if the L1 cache holds a float32 part of a panel with its sums and rows, 40 kB in all. On
/// CPUs where the multiplication ports also widen (Intel), a matmul of many rows then waits a
/// quarter less.
bool first_cache_holds_wide_parts() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  static const bool holds = sysconf(_SC_LEVEL1_DCACHE_SIZE) >= 48 * 1024;
  return holds;
#else
  return false;
#endif
}

/// Multiplies in parts. A panel with many rows would not stay in the cache while the rows of x
/// pass. Part lengths are a multiple of the kernel's chains, so the bits are those of a single
/// pass.
void multiply_in_parts(const PanelMatmul& whole, Index first_panel, Index last_panel) {
  constexpr Index kPart = 1024;
  const Kernels& k = kernels();
  if (whole.in <= kPart || whole.rows <= k.row_block) {
    k.panel_matmul(whole, first_panel, last_panel);
    return;
  }
  for (Index panel = first_panel; panel < last_panel; ++panel) {
    for (Index start = 0; start < whole.in; start += kPart) {
      PanelMatmul part = whole;
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
      k.panel_matmul(part, panel, panel + 1);
    }
  }
}

}  // namespace

std::size_t panel_weight_floats(const Parameter& weight) {
  return to_size(panel_floats(weight.rows, weight.columns, stay_16_bits({weight})));
}

/// The largest weight, the output layer's, is a quarter of a small model; packed at once, it would
/// be in memory twice. If its columns are contiguous, some are packed and released at a time.
void PanelWeight::pack(const std::vector<Parameter>& weights, Index in, Index out,
                       const PackingOptions& how) {
  constexpr Index kColumns = 512;  // whole panels of every kernel
  in_ = in;
  out_ = out;
  of_16_bits_ = !rounds_ && stay_16_bits(weights);
  const auto floats = to_size(panel_floats(in, out, of_16_bits_));
  if (panels_.data() == nullptr || panels_.size() != floats) panels_ = how.take(floats);
  const bool in_parts = weights.size() == 1 && weights.front().row_stride == 1;
  const Index each = in_parts ? std::min(kColumns, out) : out;
  for (Index first = 0; first < out; first += each) {
    const Index columns = std::min(each, out - first);
    const auto part =
        in_parts ? std::vector{weights.front().columns_from(first, columns)} : weights;
    if (of_16_bits_) {
      pack_panels(part, in, columns, binary16_in(panels_) + first * in);
    } else {
      pack_panels(part, in, columns, panels_.data() + first * in,
                  rounds_ ? round_to_bfloat16 : nullptr);
    }
    how.release(part);
  }
}

void PanelWeight::multiply(const BatchMatmul& p) const {
  if (rounds_) {
    multiply_rows(p.x.unaryExpr(&round_to_bfloat16).eval(), p);
  } else {
    multiply_rows(p.x, p);
  }
  p.finish();
}

void PanelWeight::multiply_rows(const ConstMatrixRef& x, const BatchMatmul& p) const {
  const Kernels& k = kernels();
  const PanelMatmul whole{.x = x.data(),
                          .x_stride = x.outerStride(),
                          .rows = x.rows(),
                          .in = in_,
                          .panels = of_16_bits_ ? nullptr : panels_.data(),
                          .out = out_,
                          .bias = p.bias,
                          .y = p.y.data(),
                          .y_stride = p.y.outerStride(),
                          .panel_rows = in_,
                          .chain = static_cast<Index>(chains_),
                          .add = p.add,
                          .fetches_ahead = true,
                          .narrow = of_16_bits_ ? binary16_in(panels_) : nullptr,
                          .widens_once = first_cache_holds_wide_parts()};
  const Index panels = k.panels_of(out_);
  // Threads divide the panels and, if there are few of them, also blocks of rows.
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
    PanelMatmul part = whole;
    part.x += row * whole.x_stride;
    part.y += row * whole.y_stride;
    part.rows =
        task / chunks == row_parts - 1 ? x.rows() - row : std::min(rows_each, x.rows() - row);
    const Index first = panels * chunk / chunks;
    const Index last = panels * (chunk + 1) / chunks;
    part.next = p.next.part(task, tasks);
    multiply_in_parts(part, first, last);
  });
}

namespace {

/// Copies a row of full panel width in a few instructions, without a call.
template <typename Number>
void copy_row(const std::byte* from, Number* to, Index width) {
  constexpr Index kWhole = 64;
  if (width == kWhole) {
    std::memcpy(to, from, kWhole * sizeof(Number));
  } else {
    std::memcpy(to, from, to_size(width) * sizeof(Number));
  }
}

/// Returns a weight's numbers as they are packed: floats or a file's 16 bits; null if they must be
/// widened first.
template <typename Number>
const std::byte* numbers_of(const Parameter& w) {
  if constexpr (std::is_same_v<Number, float>) return reinterpret_cast<const std::byte*>(w.data);
  return w.narrow;
}

/// Returns element (i, j) as it is packed.
template <typename Number>
Number number_at(const Parameter& w, Index i, Index j) {
  if constexpr (std::is_same_v<Number, float>) return w.at(i, j);
  Number bits{};
  std::memcpy(&bits, w.narrow + (i * w.row_stride + j * w.column_stride) * Index{sizeof bits},
              sizeof bits);
  return bits;
}

/// Rows per block: one cache line of each column's numbers in a transposed weight.
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

/// Transposes four numbers of each of four columns, from number `row` on, into out [4, 4].
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

/// Copies rows [row, row + kBlock) of a transposed weight, whose columns are contiguous.
template <typename Number>
void transpose_block(const Parameter& w, Index row, Number* out, Index stride) {
  const std::byte* numbers = numbers_of<Number>(w);
  float wide[4][kBlock];
  const std::byte* columns[4];
  for (Index j = 0; j < w.columns; j += 4) {
    const Index count = std::min<Index>(4, w.columns - j);
    for (Index c = 0; c < count; ++c) {
      const Index column = j + c;
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

/// Copies a weight to `out`, with `stride` numbers per row. Working in blocks keeps the cache lines
/// of both source and target in use when the weight is transposed.
template <typename Number>
void copy_rows(const Parameter& w, Number* out, Index stride) {
  const std::byte* numbers = numbers_of<Number>(w);
  if (numbers != nullptr && w.column_stride == 1) {
    for (Index i = 0; i < w.rows; ++i) {
      copy_row(numbers + i * w.row_stride * Index{sizeof(Number)}, out + i * stride, w.columns);
    }
    return;
  }
  Index done = 0;
  if (w.row_stride == 1) {
    for (; done + kBlock <= w.rows; done += kBlock) {
      transpose_block(w, done, out + done * stride, stride);
    }
  }
  for (Index i = done; i < w.rows; ++i) {
    for (Index j = 0; j < w.columns; ++j) out[i * stride + j] = number_at<Number>(w, i, j);
  }
}

/// Packs one panel, padded with zeros beyond the last column.
template <typename Number>
void pack_panel(const std::vector<Parameter>& weights, Index in, Index out, Index index,
                Number* panel) {
  const Index width = kernels().panel_width;
  if ((index + 1) * width > out) std::fill_n(panel, to_size(in * width), Number{0});
  Index first = 0;  // first column of weight w in the whole
  for (const Parameter& w : weights) {
    const Index from = std::max(first, index * width);
    const Index to = std::min(first + w.columns, (index + 1) * width);
    if (from < to) {
      copy_rows(w.columns_from(from - first, to - from), panel + from - index * width, width);
    }
    first += w.columns;
  }
}

}  // namespace

bool all_float16(const std::vector<Parameter>& weights) {
  return std::all_of(weights.begin(), weights.end(), [](const Parameter& w) {
    return w.data == nullptr && w.scales == nullptr && w.format == half::Format::f16;
  });
}

Index panel_floats(Index in, Index out, bool of_16_bits) {
  const Index numbers = kernels().panels_of(out) * kernels().panel_width * in;
  return of_16_bits ? (numbers + 1) / 2 : numbers;
}

void pack_panels(const std::vector<Parameter>& weights, Index in, Index out, float* panels,
                 float (*then)(float)) {
  const Index size = in * kernels().panel_width;
  parallel_for(kernels().panels_of(out), in * out, [&](Index p) {
    float* panel = panels + p * size;
    pack_panel(weights, in, out, p, panel);
    if (then != nullptr) std::transform(panel, panel + size, panel, then);
  });
}

void pack_panels(const std::vector<Parameter>& weights, Index in, Index out,
                 std::uint16_t* panels) {
  const Index size = in * kernels().panel_width;
  parallel_for(kernels().panels_of(out), in * out,
               [&](Index p) { pack_panel(weights, in, out, p, panels + p * size); });
}

}  // namespace attn
