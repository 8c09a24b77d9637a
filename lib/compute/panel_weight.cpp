#include "compute/panel_weight.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>

#include "base/at.h"
#include "compute/bfloat16_weight.h"
#include "compute/kernels/kernels.h"
#include "compute/panel_packing.h"

namespace attn {
namespace {

std::uint16_t* binary16_in(const AlignedFloats& memory) {
  return reinterpret_cast<std::uint16_t*>(memory.data());
}

/// Whether the panels may hold what a file holds, in 16 bits.
bool stay_16_bits(const std::vector<Parameter>& weights) {
  return kernels().widens && all_float16(weights);
}

/// A part of a panel in float32, its sums and the rows that pass by take 40 kB. Where multipliers
/// also widen (Intel), a product of many rows so waits a quarter less for them.
bool first_cache_holds_wide_parts() {
#ifdef _SC_LEVEL1_DCACHE_SIZE
  static const bool holds = sysconf(_SC_LEVEL1_DCACHE_SIZE) >= 48 * 1024;
  return holds;
#else
  return false;
#endif
}

/// A panel of many rows does not stay in a core's cache while the rows of x pass by: it is taken in
/// parts. Their length is a multiple of the kernel's chains, so that the bits are those of one go.
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

/// The largest weight, the output's, is a quarter of a small model: packed in one go, it would be
/// in memory twice. Where its columns lie one after another, some are packed and let go at a time.
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

}  // namespace attn
