// Products with panels, over the same Lanes and under the same rules as kernels_impl.h, which
// includes this file.
//
// One block of `Rows` rows by one panel stays in registers while a chain of `in` runs; each step
// costs one load of the panel's row and one broadcast a row of x. The loops over registers must be
// unrolled at every optimisation level: a register has no index. Between chains the sums lie in
// `partial`, not in y: y's rows are kilobytes apart and share few sets of the first cache, from
// which they would be gone when the next chain asks for them.
#pragma once

#include "compute/kernels.h"

namespace attn {
namespace {

/// How a block's chain ends: to = from + sum + bias, without what is null.
struct ChainEnd {
  const float* from;
  Index from_stride;
  float* to;
  Index to_stride;
  const float* bias;
};

template <std::size_t Rows, bool Added, bool Biased>
inline void end_whole_chain(const Lanes (&sum)[Rows][kPanelLanes], const ChainEnd& end) {
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) {
      Lanes value = sum[r][c];
      if constexpr (Added) value = Lanes::load(end.from + r * end.from_stride + c * kLanes) + value;
      if constexpr (Biased) value = value + Lanes::load(end.bias + c * kLanes);
      value.store(end.to + r * end.to_stride + c * kLanes);
    }
  }
}

/// The same where only some of a panel's columns are there.
template <std::size_t Rows>
inline void end_narrow_chain(const Lanes (&sum)[Rows][kPanelLanes], const ChainEnd& end,
                             Index columns) {
#pragma GCC unroll 8
  for (Index c = 0; c < kPanelLanes; ++c) {
    const Index first = c * kLanes;
    const Index left = columns - first < kLanes ? columns - first : kLanes;
    if (left <= 0) break;
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      Lanes value = sum[r][c];
      if (end.from != nullptr) value = load_n(end.from + r * end.from_stride + first, left) + value;
      if (end.bias != nullptr) value = value + load_n(end.bias + first, left);
      store_n(value, end.to + r * end.to_stride + first, left);
    }
  }
}

template <std::size_t Rows>
inline void end_chain(const Lanes (&sum)[Rows][kPanelLanes], const ChainEnd& end, Index columns) {
  if (columns < kPanelWidth) {
    end_narrow_chain<Rows>(sum, end, columns);
  } else if (end.from == nullptr && end.bias == nullptr) {
    end_whole_chain<Rows, false, false>(sum, end);
  } else if (end.from == nullptr) {
    end_whole_chain<Rows, false, true>(sum, end);
  } else if (end.bias == nullptr) {
    end_whole_chain<Rows, true, false>(sum, end);
  } else {
    end_whole_chain<Rows, true, true>(sum, end);
  }
}

constexpr Index kCacheLine = 64;  // bytes

/// Rows that pass by a chain's part of a panel while it stays in the first cache.
constexpr Index kRowGroup = 8 * kRowBlock;

/// What a block fetches into the second cache while it computes: `lines` lines from `from` on in
/// each four of its steps.
struct Fetch {
  const char* from;
  Index lines;
};

/// One chain of a block of rows by one panel: its terms [start, start + chain).
struct BlockChain {
  Index row;  ///< of x and y
  Index column;
  Index start;
  float* partial;  ///< [rows, kPanelWidth] the sum of the chains so far, in the first cache
  Fetch fetch;
};

/// Element k of row r lies at x[r · row_stride + k · Step]: Step is 1 for rows as they are, and
/// kRowBlock for strips. A Weight is a float, or 16 bits that are widened as they are loaded.
template <std::size_t Rows, Index Step, typename Weight>
void block_product(const PanelProduct& p, const Weight* panel, const BlockChain& b) {
  constexpr bool strips = Step != 1;
  const Index row_stride = strips ? 1 : p.x_stride;
  const float* x = p.x + b.row * (strips ? p.in : p.x_stride);
  const Index end = b.start + p.chain < p.in ? b.start + p.chain : p.in;
  Lanes sum[Rows][kPanelLanes];
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) sum[r][c] = Lanes::zero();
  }
  float* y = p.y + b.row * p.y_stride + b.column;
  const bool first = b.start == 0;
  const bool last = end == p.in;
  if (p.fetches_ahead && !last &&
      end + p.chain >= p.in) {  // y is written when the block comes next
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
      for (Index c = 0; c < kPanelLanes; ++c) {
        __builtin_prefetch(y + r * p.y_stride + c * kLanes, 1, 2);
      }
    }
  }
  const char* ahead = b.fetch.from;
  for (Index k = b.start; k < end; ++k) {
    for (Index i = k % 4; i < b.fetch.lines; i += 4) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kCacheLine;
    }
    Lanes value[Rows];
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      value[r] = Lanes::broadcast(x[r * row_stride + k * Step]);
    }
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) {
      const Lanes w = Lanes::load(panel + k * kPanelWidth + c * kLanes);
#pragma GCC unroll 8
      for (Index r = 0; r < Index{Rows}; ++r) sum[r][c] = fma(value[r], w, sum[r][c]);
    }
  }

  const float* before = p.add ? y : nullptr;  // what the first chain is added to
  end_chain<Rows>(sum,
                  {.from = first ? before : b.partial,
                   .from_stride = first ? p.y_stride : kPanelWidth,
                   .to = last ? y : b.partial,
                   .to_stride = last ? p.y_stride : kPanelWidth,
                   .bias = last && p.bias != nullptr ? p.bias + b.column : nullptr},
                  p.out - b.column);
}

/// The block of `rows` rows, 1 to Rows.
template <std::size_t Rows, Index Step, typename Weight>
void block_of_rows(Index rows, const PanelProduct& p, const Weight* panel, const BlockChain& b) {
  if constexpr (Rows > 0) {
    if (rows == Index{Rows}) {
      block_product<Rows, Step>(p, panel, b);
    } else {
      block_of_rows<Rows - 1, Step>(rows, p, panel, b);
    }
  }
}

/// One row by one panel, whose sums stay in registers from chain to chain: it takes no longer than
/// the panel's numbers to arrive.
template <typename Weight>
void row_product(const PanelProduct& p, const Weight* panel, Index column) {
  Lanes total[1][kPanelLanes];
#pragma GCC unroll 8
  for (Index c = 0; c < kPanelLanes; ++c) total[0][c] = Lanes::zero();
  for (Index start = 0; start < p.in; start += p.chain) {
    const Index end = start + p.chain < p.in ? start + p.chain : p.in;
    Lanes sum[kPanelLanes];
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) sum[c] = Lanes::zero();
    for (Index k = start; k < end; ++k) {
      const Lanes value = Lanes::broadcast(p.x[k]);
#pragma GCC unroll 8
      for (Index c = 0; c < kPanelLanes; ++c) {
        sum[c] = fma(value, Lanes::load(panel + k * kPanelWidth + c * kLanes), sum[c]);
      }
    }
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c)
      total[0][c] = start == 0 ? sum[c] : total[0][c] + sum[c];
  }
  const float* bias = p.bias != nullptr ? p.bias + column : nullptr;
  end_chain<1>(total, {nullptr, 0, p.y + column, 0, bias}, p.out - column);
}

/// The block that reads a part of a panel first would wait for it where it comes from memory or the
/// last cache. So the blocks before share out among them to fetch it ahead.
struct FetchPlan {
  Index distance;  ///< bytes from what is read to what is fetched
  Index lines;     ///< of a block in four steps
  Index blocks;    ///< the first ones of the product's rows, which fetch
};

template <typename Weight>
FetchPlan fetch_plan(const PanelProduct& p) {
  if (!p.fetches_ahead || p.rows <= kRowBlock) return {0, 0, 0};  // one block would not keep up
  constexpr Index kAhead = 64 * 1024;
  constexpr Index kRowLines = kPanelWidth * Index{sizeof(Weight)} / kCacheLine;
  const Index blocks = (p.rows + kRowBlock - 1) / kRowBlock;
  const Index lines = (4 * kRowLines + blocks - 1) / blocks;
  // Several groups read a panel one after the other: what they fetch is the next one.
  return {p.rows > kRowGroup ? p.panel_rows * kRowLines * kCacheLine : kAhead, lines,
          (4 * kRowLines + lines - 1) / lines};
}

/// A group of rows, in blocks of nearly the same size: `rows` rows from `first` on.
template <Index Step, typename Weight>
void rows_of_panel(const PanelProduct& p, const FetchPlan& plan, const Weight* panel, Index column,
                   Index first, Index rows) {
  alignas(64) float partial[kRowGroup * kPanelWidth];
  const Index blocks = (rows + kRowBlock - 1) / kRowBlock;
  const Index each = Step == 1 ? rows / blocks : kRowBlock;
  const Index larger = Step == 1 ? rows % blocks : 0;  // blocks with one row more
  for (Index start = 0; start < p.in; start += p.chain) {
    const char* ahead = reinterpret_cast<const char*>(panel + start * kPanelWidth) + plan.distance;
    Index row = 0;
    for (Index block = 0; block < blocks; ++block) {
      const Index size = each + (block < larger ? 1 : 0);
      const Index count = size < rows - row ? size : rows - row;
      const Index number = first / kRowBlock + block;
      const Fetch fetch{ahead + number * plan.lines * (p.chain / 4) * kCacheLine,
                        number < plan.blocks ? plan.lines : 0};
      block_of_rows<kRowBlock, Step>(
          count, p, panel, {first + row, column, start, partial + row * kPanelWidth, fetch});
      row += count;
    }
  }
}

template <Index Step, typename Weight>
void product_of_panels(const PanelProduct& p, const Weight* panels, Index first, Index last) {
  if (Step == 1 && p.rows == 1 && !p.add) {
    for (Index index = first; index < last; ++index) {
      row_product(p, panels + index * p.panel_rows * kPanelWidth, index * kPanelWidth);
    }
    return;
  }
  const FetchPlan plan = fetch_plan<Weight>(p);
  for (Index index = first; index < last; ++index) {
    const Weight* panel = panels + index * p.panel_rows * kPanelWidth;
    for (Index row = 0; row < p.rows; row += kRowGroup) {
      const Index rows = p.rows - row < kRowGroup ? p.rows - row : kRowGroup;
      rows_of_panel<Step>(p, plan, panel, index * kPanelWidth, row, rows);
    }
  }
}

void panel_product(const PanelProduct& p, Index first_panel, Index last_panel) {
  if constexpr (kWidens) {
    if (p.narrow != nullptr) return product_of_panels<1>(p, p.narrow, first_panel, last_panel);
  }
  if (p.strips) return product_of_panels<kRowBlock>(p, p.panels, first_panel, last_panel);
  product_of_panels<1>(p, p.panels, first_panel, last_panel);
}

}  // namespace
}  // namespace attn
