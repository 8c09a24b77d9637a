#include "compute/int8/int8_weight.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/at.h"
#include "base/error.h"
#include "compute/int8/int8_kernels.h"
#include "compute/threads.h"

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

/// Returns memory for `count` elements, reused from matmul to matmul.
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
  AlignedFloats numbers;  ///< bytes
  std::vector<float> scales;
  std::vector<std::int32_t> negatives;
};

/// Quantizes a batch, in this thread's memory.
Int8Batch quantize_all(const ConstMatrixRef& x, Index row_bytes) {
  const Int8Kernels& k = int8_kernels();
  auto& scratch = thread_instance<RowScratch>();
  scratch.numbers.reserve(to_size(x.rows() * row_bytes / Index{sizeof(float)}));
  const Int8Batch all{as_bytes(scratch.numbers), at_least(scratch.scales, x.rows()),
                      at_least(scratch.negatives, x.rows())};
  constexpr Index kRowsOfTask = 32;
  parallel_for((x.rows() + kRowsOfTask - 1) / kRowsOfTask, x.size(), [&](Index task) {
    const Index first = task * kRowsOfTask;
    const Index rows = std::min(kRowsOfTask, x.rows() - first);
    k.quantize_rows({x.data() + first * x.outerStride(), x.outerStride(), rows, x.cols()},
                    {all.numbers + first * row_bytes, all.scales + first, all.negatives + first});
  });
  return all;
}

/// A weight that contains a column of the whole, and the column's index in it.
struct ColumnPlace {
  const Parameter* weight;
  Index column;
};

ColumnPlace find_column(const std::vector<Parameter>& weights, Index column) {
  std::size_t i = 0;
  while (column >= weights[i].columns) column -= weights[i++].columns;
  return {&weights[i], column};
}

/// Returns a column in place if it is contiguous, else its copy in `scratch`.
const float* column_of(const ColumnPlace& place, std::vector<float>& scratch) {
  const Parameter& w = *place.weight;
  if (w.data != nullptr && w.row_stride == 1) return w.data + place.column * w.column_stride;
  float* out = at_least(scratch, w.rows);
  w.copy_column(place.column, out);
  return out;
}

/// Copies a column stored as int8, and returns its scale.
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
                      const PackingOptions& how) {
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
  auto& [numbers, bytes] = thread_instance<ColumnScratch>();
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

void Int8Weight::multiply(const BatchMatmul& p) const {
  const Int8Kernels& k = int8_kernels();
  const Index rows = p.x.rows();
  const Index row_bytes = groups_ * k.group_bytes;
  const Int8Batch x = quantize_all(p.x, row_bytes);
  const Index panels = padded_columns(out_) / k.panel_width;
  // Threads divide the panels or, for long batches, the rows. The number of rows is chosen so that
  // they and the current panel stay in the L1 cache (12 and 16 KB for 256 terms), along with
  // results that `then` is still to change.
  constexpr Index kMostRows = 48;
  constexpr Index kColumnsAtOnce = 256;
  const Index blocks = (rows + kMostRows - 1) / kMostRows;
  const Index block_rows = (rows + blocks - 1) / blocks;
  const Index pieces = p.then == nullptr ? 1 : (out_ + kColumnsAtOnce - 1) / kColumnsAtOnce;
  const Index shares = threads() == 1 ? 1 : 4 * Index{threads()};
  const Index chunks = std::min(panels, std::max(pieces, shares));
  parallel_for(blocks * chunks, rows * in_ * out_, [&](Index task) {
    const Index row = task / chunks * block_rows;
    const Index chunk = task % chunks;
    const Index first = panels * chunk / chunks;
    const Index last = panels * (chunk + 1) / chunks;
    const Int8Matmul part{.x = x.numbers + row * row_bytes,
                          .x_scales = x.scales + row,
                          .x_negatives = x.negatives + row,
                          .rows = std::min(block_rows, rows - row),
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
