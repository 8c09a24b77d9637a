// Matmuls with panels, over the same Lanes and under the same rules as impl.h, which includes this
// file.
//
// The sums of a block of `Rows` rows by one panel stay in registers during a chain of terms along
// `in`. Each step costs one load of the panel's row and one broadcast per row of x. Loops over
// registers must be unrolled at every optimization level, because registers cannot be indexed.
// Between chains the sums are in `partial`, not in y: rows of y are kilobytes apart, so they share
// few sets of the L1 cache and would be evicted before the next chain reads them.
#pragma once

#include "compute/kernels/kernels.h"

namespace attn {
namespace {

template <bool Added, bool Biased, std::size_t Rows>
[[gnu::always_inline]] inline void end_whole_chain(const Lanes (&sum)[Rows][kPanelLanes],
                                                   OutRows from, OutRows to, const float* bias) {
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) {
      Lanes value = sum[r][c];
      if constexpr (Added) value = Lanes::load(from.first + c * kLanes) + value;
      if constexpr (Biased) value = value + Lanes::load(bias + c * kLanes);
      value.store(to.first + c * kLanes);
    }
    if constexpr (Added) from.first += from.stride;
    to.first += to.stride;
    asm("" : "+r"(to.first));  // otherwise GCC precomputes an address for each store, and spills
  }
}

/// Same for a panel of which only some columns exist.
template <std::size_t Rows>
[[gnu::always_inline]] inline void end_narrow_chain(const Lanes (&sum)[Rows][kPanelLanes],
                                                    OutRows from, OutRows to, const float* bias,
                                                    Index columns) {
#pragma GCC unroll 8
  for (Index c = 0; c < kPanelLanes; ++c) {
    const Index first = c * kLanes;
    const Index left = columns - first < kLanes ? columns - first : kLanes;
    if (left <= 0) break;
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      Lanes value = sum[r][c];
      if (from.first != nullptr) {
        value = load_n(from.first + r * from.stride + first, left) + value;
      }
      if (bias != nullptr) value = value + load_n(bias + first, left);
      store_n(value, to.first + r * to.stride + first, left);
    }
  }
}

/// Ends the last chain: to = from + sum + bias in `columns` columns; null operands are skipped.
template <std::size_t Rows>
[[gnu::always_inline]] inline void end_product(const Lanes (&sum)[Rows][kPanelLanes], OutRows from,
                                               OutRows to, const float* bias, Index columns) {
  if (columns < kPanelWidth) {
    end_narrow_chain(sum, from, to, bias, columns);
  } else if (from.first == nullptr && bias == nullptr) {
    end_whole_chain<false, false>(sum, from, to, bias);
  } else if (from.first == nullptr) {
    end_whole_chain<false, true>(sum, from, to, bias);
  } else if (bias == nullptr) {
    end_whole_chain<true, false>(sum, from, to, bias);
  } else {
    end_whole_chain<true, true>(sum, from, to, bias);
  }
}

/// Rows that are multiplied by a chain's part of a panel while it stays in the L1 cache.
constexpr Index kRowGroup = 8 * kRowBlock;

/// The data that a block prefetches into the L2 cache.
struct Fetch {
  const char* from;  ///< in the panels
  Index lines;       ///< lines after `from` per four of the block's steps, at most 8
  const char* next;  ///< in the memory that is read after the matmul
  Index next_lines;  ///< lines of it, at most one per step
};

/// One chain of a block of rows by one panel: terms [start, start + steps).
struct BlockChain {
  Index row;  ///< in x and y
  Index column;
  Index start;
  Index steps;
  float* partial;  ///< [rows, kPanelWidth] the sum of the chains so far, in the L1 cache
  Fetch fetch;
};

/// Prefetches the block's part of y, which the block writes next.
template <std::size_t Rows>
inline void fetch_results(const float* y, Index stride) {
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) __builtin_prefetch(y + r * stride + c * kLanes, 1, 2);
  }
}

/// Ends a block's chain: its sums go to the next chain's start or to y.
template <std::size_t Rows>
[[gnu::always_inline]] inline void end_block(const Lanes (&sum)[Rows][kPanelLanes],
                                             const PanelMatmul& p, const BlockChain& b) {
  const OutRows y{p.y + b.row * p.y_stride + b.column, p.y_stride};
  const OutRows partial{b.partial, kPanelWidth};
  const Index columns = p.out - b.column;
  const bool first = b.start == 0;
  const OutRows from = first ? OutRows{p.add ? y.first : nullptr, y.stride} : partial;
  const bool last = b.start + b.steps == p.in;
  if (!last && first && !p.add) {
    end_whole_chain<false, false>(sum, from, partial, nullptr);
  } else if (!last && !first && columns >= kPanelWidth) {
    end_whole_chain<true, false>(sum, partial, partial, nullptr);
  } else {
    const float* bias = last && p.bias != nullptr ? p.bias + b.column : nullptr;
    end_product(sum, from, last ? y : partial, bias, columns);
  }
  const bool last_is_next = !last && b.start + b.steps + p.chain >= p.in;
  if (p.fetches_ahead && last_is_next) fetch_results<Rows>(y.first, y.stride);
}

/// Computes one chain of a block. Element k of row r is at x[r · row_stride + k · Step]; Step is 1
/// for plain rows and kRowBlock for strips. A Weight is a float, or 16 bits that are widened as
/// they are loaded.
///
/// A chain takes only a few hundred cycles, so the code around its loop matters: two pointers reach
/// all rows, and only the last chain has branches for the end of the sums. `w` are the chain's
/// weights: the panel from row b.start on.
template <std::size_t Rows, Index Step, typename Weight>
[[gnu::noinline]] void block_product(const PanelMatmul& p, const Weight* w, const BlockChain& b) {
  constexpr bool strips = Step != 1;
  const Index row_stride = strips ? 1 : p.x_stride;
  const float* x = p.x + b.row * (strips ? p.in : p.x_stride) + b.start * Step;
  const float* x3 = x + (Rows > 3 ? 3 * row_stride : 0);
  const char* ahead = b.fetch.from;
  const Index lines = b.fetch.lines;
  const char* next = b.fetch.next;
  const Index next_lines = b.fetch.next_lines;
  Lanes sum[Rows][kPanelLanes];
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) sum[r][c] = Lanes::zero();
  }
  for (Index left = b.steps; left > 0; --left) {
    const Index turn = left & 3;
    if (turn < lines) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kCacheLine;
    }
    if (turn + 4 < lines) {
      __builtin_prefetch(ahead, 0, 2);
      ahead += kCacheLine;
    }
    if (left <= next_lines) {
      __builtin_prefetch(next, 0, 2);
      next += kCacheLine;
    }
    Lanes value[Rows];
#pragma GCC unroll 8
    for (Index r = 0; r < Index{Rows}; ++r) {
      value[r] = Lanes::broadcast(r < 3 ? x[r * row_stride] : x3[(r - 3) * row_stride]);
    }
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) {
      const Lanes weight = Lanes::load(w + c * kLanes);
#pragma GCC unroll 8
      for (Index r = 0; r < Index{Rows}; ++r) sum[r][c] = fma(value[r], weight, sum[r][c]);
    }
    x += Step;
    x3 += Step;
    w += kPanelWidth;
    asm("" : "+r"(x), "+r"(x3));  // otherwise GCC gives each row its own pointer, and spills
  }
  end_block<Rows>(sum, p, b);
}

/// Calls block_product() for `rows` rows, 1 to Rows.
template <std::size_t Rows, Index Step, typename Weight>
void block_of_rows(Index rows, const PanelMatmul& p, const Weight* w, const BlockChain& b) {
  if constexpr (Rows > 0) {
    if (rows == Index{Rows}) {
      block_product<Rows, Step>(p, w, b);
    } else {
      block_of_rows<Rows - 1, Step>(rows, p, w, b);
    }
  }
}

/// Multiplies one row by one panel. The sums stay in registers from chain to chain, so the time is
/// that of reading the panel.
template <typename Weight>
void row_product(const PanelMatmul& p, const Weight* panel, Index column) {
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
  end_product(total, {nullptr}, {p.y + column}, bias, p.out - column);
}

/// The prefetching of a matmul. The first block that reads a part of a panel would wait for memory
/// or the last-level cache, so the earlier blocks divide the work of fetching it ahead of time.
struct FetchPlan {
  Index distance;    ///< bytes between the current reads and the fetched data
  Index lines;       ///< lines per block in four steps
  Index blocks;      ///< number of blocks, at the start of the rows, that fetch
  const char* next;  ///< next data for the following block to fetch after the matmul's own,
  Index next_lines;  ///< and its lines per chain
};

template <typename Weight>
FetchPlan fetch_plan(const PanelMatmul& p, Index panels) {
  if (!p.fetches_ahead || p.rows <= kRowBlock) return {};  // a single block could not keep up
  constexpr Index kAhead = 64 * 1024;
  constexpr Index kRowLines = kPanelWidth * Index{sizeof(Weight)} / kCacheLine;
  const Index blocks = (p.rows + kRowBlock - 1) / kRowBlock;
  const Index chains = (p.in + p.chain - 1) / p.chain;
  const Index lines = (4 * kRowLines + blocks - 1) / blocks;
  // Several groups of rows read each panel in turn, so they fetch the next panel.
  return {p.rows > kRowGroup ? p.panel_rows * kRowLines * kCacheLine : kAhead, lines,
          (4 * kRowLines + lines - 1) / lines, reinterpret_cast<const char*>(p.next.first),
          p.next.lines_per_chain(panels * chains * blocks, p.chain)};
}

/// Rows of x that are multiplied by a panel together.
struct RowGroup {
  Index first;
  Index rows;
};

/// A chain's weights, widened once for all blocks of a row group.
struct WidenedChain {
  static constexpr Index kMost = 64;  ///< terms
  alignas(64) float weights[kMost * kPanelWidth];

  template <typename Narrow>
  const float* of(const Narrow* narrow, Index terms) {
    for (Index i = 0; i < terms * kPanelWidth; i += kLanes) {
      Lanes::load(narrow + i).store(weights + i);
    }
    return weights;
  }
};

/// Multiplies a group of rows by the panel at `column`, in blocks of nearly equal size.
template <Index Step, typename Weight>
void rows_of_panel(const PanelMatmul& p, FetchPlan& plan, const Weight* panel, Index column,
                   RowGroup group) {
  alignas(64) float partial[kRowGroup * kPanelWidth];
  [[maybe_unused]] WidenedChain widened;
  const auto [first, rows] = group;
  const Index blocks = (rows + kRowBlock - 1) / kRowBlock;
  const Index each = Step == 1 ? rows / blocks : kRowBlock;
  const Index larger = Step == 1 ? rows % blocks : 0;  // blocks with one extra row
  for (Index start = 0; start < p.in; start += p.chain) {
    const Index steps = p.chain < p.in - start ? p.chain : p.in - start;
    const Weight* chain = panel + start * kPanelWidth;
    const char* ahead = reinterpret_cast<const char*>(chain) + plan.distance;
    const float* wide = nullptr;
    if constexpr (sizeof(Weight) == sizeof(std::uint16_t)) {
      if (p.widens_once && blocks > 2 && steps <= WidenedChain::kMost) {
        wide = widened.of(chain, steps);
      }
    }
    Index row = 0;
    for (Index block = 0; block < blocks; ++block) {
      const Index size = each + (block < larger ? 1 : 0);
      const Index count = size < rows - row ? size : rows - row;
      const Index number = first / kRowBlock + block;
      const Fetch fetch{ahead + number * plan.lines * (p.chain / 4) * kCacheLine,
                        number < plan.blocks ? plan.lines : 0, plan.next, plan.next_lines};
      plan.next += plan.next_lines * kCacheLine;
      const BlockChain part{first + row, column, start, steps, partial + row * kPanelWidth, fetch};
      if (wide != nullptr) {
        block_of_rows<kRowBlock, Step>(count, p, wide, part);
      } else {
        block_of_rows<kRowBlock, Step>(count, p, chain, part);
      }
      row += count;
    }
  }
}

template <Index Step, typename Weight>
void product_of_panels(const PanelMatmul& p, const Weight* panels, Index first, Index last) {
  if (Step == 1 && p.rows == 1 && !p.add) {
    for (Index index = first; index < last; ++index) {
      row_product(p, panels + index * p.panel_rows * kPanelWidth, index * kPanelWidth);
    }
    return;
  }
  FetchPlan plan = fetch_plan<Weight>(p, last - first);
  for (Index index = first; index < last; ++index) {
    const Weight* panel = panels + index * p.panel_rows * kPanelWidth;
    for (Index row = 0; row < p.rows; row += kRowGroup) {
      const Index rows = p.rows - row < kRowGroup ? p.rows - row : kRowGroup;
      rows_of_panel<Step>(p, plan, panel, index * kPanelWidth, {row, rows});
    }
  }
}

void panel_matmul(const PanelMatmul& p, Index first_panel, Index last_panel) {
  if constexpr (kWidens) {
    if (p.narrow != nullptr) return product_of_panels<1>(p, p.narrow, first_panel, last_panel);
  }
  if (p.strips) return product_of_panels<kRowBlock>(p, p.panels, first_panel, last_panel);
  product_of_panels<1>(p, p.panels, first_panel, last_panel);
}

}  // namespace
}  // namespace attn
