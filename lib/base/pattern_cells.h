// Which cells of an attention map are computed where a pattern leaves some out, and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/at.h"
#include "config/pattern_cells.h"

namespace attn {

/// Neighbouring keys [first, end) that a query looks at for one reason.
struct CellRun {
  std::int32_t first = 0;
  std::int32_t end = 0;
  PatternReason reason = PatternReason::full;
  float bias = 0.0F;  ///< added to the scores: ln c for keys that count c times

  bool operator==(const CellRun&) const = default;
};

/// Which keys each query of one head looks at: runs of every row, rising and apart.
struct PatternCells {
  std::vector<std::size_t> rows = {0};  ///< the runs of row r: [rows[r], rows[r + 1])
  std::vector<CellRun> runs = {};

  bool operator==(const PatternCells&) const = default;

  std::span<const CellRun> row(int query) const {
    const std::size_t first = at(rows, query);
    return std::span(runs).subspan(first, at(rows, query + 1) - first);
  }
  /// The row after those that are there; its runs have been added.
  void end_row() { rows.push_back(runs.size()); }

  /// How many cells they are.
  std::size_t count() const {
    std::size_t cells = 0;
    for (const CellRun& run : runs) cells += to_size(run.end - run.first);
    return cells;
  }
};

}  // namespace attn
