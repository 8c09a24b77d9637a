#include "compute/panel_packing.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/at.h"
#include "compute/kernels/kernels.h"
#include "compute/threads.h"

namespace attn {
namespace {

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

/// Rows [row, row + kBlock) of a weight that lies transposed, its columns' numbers side by side.
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

/// Copies a weight to `out`, `stride` numbers a row. Blocks keep both the source's and the target's
/// cache lines in use when the weight lies transposed.
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

/// One panel: where it ends beyond the last column, it is filled up with zeros.
template <typename Number>
void pack_panel(const std::vector<Parameter>& weights, Index in, Index out, Index index,
                Number* panel) {
  const Index width = kernels().panel_width;
  if ((index + 1) * width > out) std::fill_n(panel, to_size(in * width), Number{0});
  Index first = 0;  // column of the whole product at which weight w begins
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
