// Products with panels, over the same Lanes and under the same rules as impl.h, which
// includes this file.
//
// One block of `Rows` rows by one panel stays in registers while a chain of `in` runs; each step
// costs one load of the panel's row and one broadcast a row of x. The loops over registers must be
// unrolled at every optimisation level: a register has no index. Between chains the sums lie in
// `partial`, not in y: y's rows are kilobytes apart and share few sets of the first cache, from
// which they would be gone when the next chain asks for them.
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
    asm("" : "+r"(to.first));  // or GCC computes an address for each store beforehand, and spills
  }
}

/// The same where only some of a panel's columns are there.
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

/// The last chain: to = from + sum + bias, without what is null, in `columns` columns.
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

/// Rows that pass by a chain's part of a panel while it stays in the first cache.
constexpr Index kRowGroup = 8 * kRowBlock;

/// What a block fetches into the second cache while it computes.
struct Fetch {
  const char* from;  ///< of the panels
  Index lines;       ///< from there on in each four of the block's steps, at most 8
  const char* next;  ///< of what is read after the product
  Index next_lines;  ///< of it, one a step
};

/// One chain of a block of rows by one panel: its terms [start, start + steps).
struct BlockChain {
  Index row;  ///< of x and y
  Index column;
  Index start;
  Index steps;
  float* partial;  ///< [rows, kPanelWidth] the sum of the chains so far, in the first cache
  Fetch fetch;
};

/// Asks for the block's part of y, which is written when the block comes next.
template <std::size_t Rows>
inline void fetch_results(const float* y, Index stride) {
#pragma GCC unroll 8
  for (Index r = 0; r < Index{Rows}; ++r) {
#pragma GCC unroll 8
    for (Index c = 0; c < kPanelLanes; ++c) __builtin_prefetch(y + r * stride + c * kLanes, 1, 2);
  }
}

/// What becomes of a block's sums: the next chain's beginning, or y.
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

/// Element k of row r lies at x[r · row_stride + k · Step]: Step is 1 for rows as they are, and
/// kRowBlock for strips. A Weight is a float, or 16 bits that are widened as they are loaded.
///
/// A chain is a few hundred cycles, so what stands before and after its loop counts: two pointers
/// reach all rows, and only a product's last chain asks what becomes of its sums.
/// `w` are the chain's weights: the panel's from row b.start on.
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
    asm("" : "+r"(x), "+r"(x3));  // or GCC gives each row a pointer of its own, and spills
  }
  end_block<Rows>(sum, p, b);
}

/// The block of `rows` rows, 1 to Rows.
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

/// One row by one panel, whose sums stay in registers from chain to chain: it takes no longer than
/// the panel's numbers to arrive.
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

/// The block that reads a part of a panel first would wait for it where it comes from memory or the
/// last cache. So the blocks before share out among them to fetch it ahead.
struct FetchPlan {
  Index distance;    ///< bytes from what is read to what is fetched
  Index lines;       ///< of a block in four steps
  Index blocks;      ///< the first ones of the product's rows, which fetch
  const char* next;  ///< what the coming block fetches of what is read after the product,
  Index next_lines;  ///< and how much in a chain
};

template <typename Weight>
FetchPlan fetch_plan(const PanelMatmul& p, Index panels) {
  if (!p.fetches_ahead || p.rows <= kRowBlock) return {};  // one block would not keep up
  constexpr Index kAhead = 64 * 1024;
  constexpr Index kRowLines = kPanelWidth * Index{sizeof(Weight)} / kCacheLine;
  const Index blocks = (p.rows + kRowBlock - 1) / kRowBlock;
  const Index chains = (p.in + p.chain - 1) / p.chain;
  const Index lines = (4 * kRowLines + blocks - 1) / blocks;
  // Several groups read a panel one after the other: what they fetch is the next one.
  return {p.rows > kRowGroup ? p.panel_rows * kRowLines * kCacheLine : kAhead, lines,
          (4 * kRowLines + lines - 1) / lines, reinterpret_cast<const char*>(p.next.first),
          p.next.lines_per_chain(panels * chains * blocks, p.chain)};
}

/// Rows of x that pass by a panel together.
struct RowGroup {
  Index first;
  Index rows;
};

/// A chain's weights, widened once for all blocks of a group of rows.
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

/// A group of rows by the panel of columns from `column` on, in blocks of nearly the same size.
template <Index Step, typename Weight>
void rows_of_panel(const PanelMatmul& p, FetchPlan& plan, const Weight* panel, Index column,
                   RowGroup group) {
  alignas(64) float partial[kRowGroup * kPanelWidth];
  [[maybe_unused]] WidenedChain widened;
  const auto [first, rows] = group;
  const Index blocks = (rows + kRowBlock - 1) / kRowBlock;
  const Index each = Step == 1 ? rows / blocks : kRowBlock;
  const Index larger = Step == 1 ? rows % blocks : 0;  // blocks with one row more
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
