#include "compute/int8/int8_weight.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/at.h"
#include "base/error.h"
#include "compute/int8/int8_kernels.h"
#include "compute/per_thread.h"

namespace attn {
namespace {

Index groups_of(Index in) {
  return (in + kInt8Group - 1) / kInt8Group;
}

Index padded_columns(Index out) {
  const Index width = int8_kernels().panel_width;
  return (out + width - 1) / width * width;
}

std::int8_t* as_bytes(const AlignedFloats& memory) {
  return reinterpret_cast<std::int8_t*>(memory.data());
}

std::int32_t* as_integers(const AlignedFloats& memory) {
  return reinterpret_cast<std::int32_t*>(memory.data());
}

/// Memory that is kept from product to product.
template <typename T>
T* at_least(std::vector<T>& memory, Index count) {
  if (memory.size() < to_size(count)) memory.resize(to_size(count));
  return memory.data();
}

struct ColumnScratch {
  std::vector<float> numbers;
  std::vector<std::int8_t> rounded;
};

struct RowScratch {
  std::vector<std::int8_t> numbers;
  std::vector<float> scales;
  std::vector<std::int32_t> negatives;
};

/// Σ |x| of the negative numbers.
std::int32_t sum_of_negatives(const std::int8_t* x, Index n) {
  std::int32_t sum = 0;
  for (Index i = 0; i < n; ++i) sum -= x[i] < 0 ? x[i] : 0;
  return sum;
}

/// A batch in 8 bits, in this thread's memory.
struct QuantizedRows {
  const std::int8_t* numbers;     ///< [T, groups · 4], filled up with zeros
  const float* scales;            ///< [T]
  const std::int32_t* negatives;  ///< [T] Σ |x| of a row's negative numbers
};

QuantizedRows quantize_rows(const ConstMatrixRef& x, Index groups) {
  const Index in = x.cols();
  const Index padded = groups * kInt8Group;
  auto& scratch = of_this_thread<RowScratch>();
  std::int8_t* numbers = at_least(scratch.numbers, x.rows() * padded);
  float* scales = at_least(scratch.scales, x.rows());
  std::int32_t* negatives = at_least(scratch.negatives, x.rows());
  constexpr Index kRowsOfTask = 32;
  parallel_for((x.rows() + kRowsOfTask - 1) / kRowsOfTask, x.size(), [&](Index task) {
    const Index last = std::min(x.rows(), (task + 1) * kRowsOfTask);
    for (Index t = task * kRowsOfTask; t < last; ++t) {
      std::int8_t* row = numbers + t * padded;
      scales[t] = int8_kernels().quantize(x.data() + t * x.outerStride(), in, row);
      std::fill(row + in, row + padded, std::int8_t{0});
      negatives[t] = sum_of_negatives(row, in);
    }
  });
  return {numbers, scales, negatives};
}

/// The weight that holds a column of the whole, and the column in it.
struct ColumnPlace {
  const Parameter* weight;
  Index column;
};

ColumnPlace find_column(const std::vector<Parameter>& weights, Index column) {
  std::size_t i = 0;
  while (column >= weights[i].columns) column -= weights[i++].columns;
  return {&weights[i], column};
}

/// Where a column lies as it is used, or `scratch`, where it is put together.
const float* column_of(const ColumnPlace& place, std::vector<float>& scratch) {
  const Parameter& w = *place.weight;
  if (w.data != nullptr && w.row_stride == 1) return w.data + place.column * w.column_stride;
  float* out = at_least(scratch, w.rows);
  w.copy_column(place.column, out);
  return out;
}

/// A column of 8 bits as it is stored, and its scale.
float stored_column(const ColumnPlace& place, std::int8_t* out) {
  const Parameter& w = *place.weight;
  std::memcpy(out, w.narrow + place.column * w.column_stride, to_size(w.rows));
  return w.scales[place.column];
}

bool is_stored_in_8_bits(const Parameter& w) {
  return w.scales != nullptr && w.row_stride == 1 && !w.scales_of_rows;
}

}  // namespace

std::size_t int8_floats(Index in, Index out) {
  return to_size(padded_columns(out) * groups_of(in));
}

void Int8Weight::pack(const std::vector<Parameter>& weights, Index in, Index out,
                      const Packing& how) {
  if (in > kMostInt8Terms) {
    throw InputError("a sum of {} products of 8 bits may not fit into 32; expected at most {}", in,
                     kMostInt8Terms);
  }
  in_ = in;
  out_ = out;
  groups_ = groups_of(in);
  const auto columns = to_size(padded_columns(out));
  panels_ = how.take(int8_floats(in, out));
  scales_ = AlignedFloats(columns);
  sums_ = AlignedFloats(columns);
  parallel_for(to_index(columns) / int8_kernels().panel_width, in * out,
               [&](Index panel) { pack_panel(weights, panel); });
  for (Index j = 0; j < out; ++j) {
    if (std::isnan(scales_.data()[j])) {
      throw InputError(
          "column {} of a weight of {} x {} holds NaN or infinity; 8-bit weights need finite "
          "numbers",
          j, in, out);
    }
  }
  how.release(weights);
}

void Int8Weight::pack_panel(const std::vector<Parameter>& weights, Index panel) {
  const Int8Kernels& k = int8_kernels();
  auto& [numbers, bytes] = of_this_thread<ColumnScratch>();
  const Index padded = groups_ * kInt8Group;
  std::int8_t* rounded = at_least(bytes, padded);
  std::fill(rounded + in_, rounded + padded, std::int8_t{0});
  std::int8_t* to = as_bytes(panels_) + panel * padded * k.panel_width;
  for (Index c = 0; c < k.panel_width; ++c) {
    const Index column = panel * k.panel_width + c;
    float scale = 0;
    if (column < out_) {
      const ColumnPlace place = find_column(weights, column);
      scale = is_stored_in_8_bits(*place.weight)
                  ? stored_column(place, rounded)
                  : k.quantize(column_of(place, numbers), in_, rounded);
    } else {
      std::fill_n(rounded, to_size(in_), std::int8_t{0});
    }
    scales_.data()[column] = scale;
    std::int32_t sum = 0;
    for (Index i = 0; i < in_; ++i) sum += rounded[i];
    as_integers(sums_)[column] = sum;
    for (Index g = 0; g < groups_; ++g) {
      std::memcpy(to + (g * k.panel_width + c) * kInt8Group, rounded + g * kInt8Group,
                  to_size(kInt8Group));
    }
  }
}

void Int8Weight::multiply(const BatchProduct& p) const {
  const Int8Kernels& k = int8_kernels();
  const Index rows = p.x.rows();
  const QuantizedRows x = quantize_rows(p.x, groups_);
  const Index panels = padded_columns(out_) / k.panel_width;
  // Threads share out the panels, or, of long batches, the rows: so many that they and the panels
  // at hand stay in a core's caches.
  constexpr Index kBlockRows = 96;
  const Index blocks = (rows + kBlockRows - 1) / kBlockRows;
  const Index chunks = threads() == 1 ? 1 : std::min(panels, 4 * Index{threads()});
  parallel_for(blocks * chunks, rows * in_ * out_, [&](Index task) {
    const Index row = task / chunks * kBlockRows;
    const Index chunk = task % chunks;
    const Index first = panels * chunk / chunks;
    const Index last = panels * (chunk + 1) / chunks;
    const Int8Product part{.x = x.numbers + row * groups_ * kInt8Group,
                           .x_scales = x.scales + row,
                           .x_negatives = x.negatives + row,
                           .rows = std::min(kBlockRows, rows - row),
                           .groups = groups_,
                           .panels = as_bytes(panels_),
                           .scales = scales_.data(),
                           .sums = as_integers(sums_),
                           .out = out_,
                           .bias = p.bias,
                           .y = p.y.data() + row * p.y.outerStride(),
                           .y_stride = p.y.outerStride(),
                           .add = p.add,
                           .next = p.next.part(task, blocks * chunks)};
    k.product(part, first, last);
    if (p.then == nullptr) return;
    const Index column = first * k.panel_width;
    const Index width = std::min(out_, last * k.panel_width) - column;
    for (Index t = 0; t < part.rows; ++t) p.then(part.y + t * part.y_stride + column, width);
  });
}

}  // namespace attn
