#include "metrics/edit_path.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace attn {
namespace {

constexpr int kBand = 25;
constexpr int kFar = 1 << 30;  ///< the cost of a cell outside the band

struct Cell {
  int cost = kFar;
  Edit edit = Edit::none;
};

/// Columns [first, last) of a row that are computed.
struct Band {
  int first = 0, last = 0;
};

Band band_of(int row, int rows, int columns, double ratio) {
  const double half = ratio / 2;
  const int width = kBand < half ? static_cast<int>(std::ceil(half + kBand)) : kBand;
  const int middle = static_cast<int>(std::floor(row * ratio));
  return {std::max(0, middle - width),
          row == rows ? columns + 1 : std::min(columns + 1, middle + width)};
}

/// The way back from the last cell.
std::vector<Edit> steps_of(const std::vector<Cell>& cells, std::size_t rows, std::size_t columns) {
  std::vector<Edit> steps;
  for (std::size_t i = rows, j = columns; i > 0 || j > 0;) {
    const Edit edit = cells[i * (columns + 1) + j].edit;
    steps.push_back(edit);
    if (edit != Edit::insert) --i;
    if (edit != Edit::remove) --j;
  }
  std::reverse(steps.begin(), steps.end());
  return steps;
}

}  // namespace

EditPath edit_path(const WordIds& hypothesis, const WordIds& reference) {
  const std::size_t rows = hypothesis.size(), columns = reference.size();
  const std::size_t width = columns + 1;
  std::vector<Cell> cells((rows + 1) * width);
  for (std::size_t j = 0; j <= columns; ++j) cells[j] = {static_cast<int>(j), Edit::insert};
  const double ratio = rows == 0 ? 1.0 : static_cast<double>(columns) / static_cast<double>(rows);
  for (std::size_t i = 1; i <= rows; ++i) {
    const Band band =
        band_of(static_cast<int>(i), static_cast<int>(rows), static_cast<int>(columns), ratio);
    Cell* row = &cells[i * width];
    const Cell* before = row - width;
    for (auto j = static_cast<std::size_t>(band.first); j < static_cast<std::size_t>(band.last);
         ++j) {
      if (j == 0) {
        row[0] = {before[0].cost + 1, Edit::remove};
        continue;
      }
      const bool same = hypothesis[i - 1] == reference[j - 1];
      Cell best;
      const auto offer = [&best](int cost, Edit edit) {
        if (cost < best.cost) best = {cost, edit};
      };
      offer(before[j - 1].cost + (same ? 0 : 1), same ? Edit::keep : Edit::substitute);
      offer(before[j].cost + 1, Edit::remove);
      offer(row[j - 1].cost + 1, Edit::insert);
      row[j] = best;
    }
  }
  return {cells.back().cost, steps_of(cells, rows, columns)};
}

}  // namespace attn
