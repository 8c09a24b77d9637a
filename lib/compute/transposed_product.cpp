#include <algorithm>
#include <stdexcept>

#include "base/at.h"
#include "compute/kernels/tile_kernels.h"
#include "compute/matmul.h"
#include "compute/per_thread.h"

namespace attn {
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
  // Threads share out the rows of c, in few parts, because each packs all of b for itself.
  const Index block = kernels().row_block;
  const Index parts = Index{threads()} * (c.rows() >= 8 * kTransposedColumns ? 2 : 1);
  const Index each = ((c.rows() + parts - 1) / parts + block - 1) / block * block;
  parallel_for((c.rows() + each - 1) / each, a.rows() * a.cols() * b.cols(), [&](Index part) {
    add_transposed_rows(a, b, c, part * each, std::min((part + 1) * each, c.rows()));
  });
}

}  // namespace attn
