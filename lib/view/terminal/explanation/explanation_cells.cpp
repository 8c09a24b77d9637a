#include "view/terminal/explanation/explanation_cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/at.h"
#include "view/token_label.h"

namespace attn {
namespace {

constexpr int kMaxWhole = 40;

std::vector<std::string> labels(const std::vector<std::string>& tokens, int count, int first) {
  if (!tokens.empty()) return token_labels(tokens);
  std::vector<std::string> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(std::to_string(first + i));
  return numbers;
}

}  // namespace

ShownIndices shown_indices(int count, const std::vector<ColumnRange>& marked, int ends) {
  ShownIndices shown;
  if (count <= kMaxWhole) {
    for (int i = 0; i < count; ++i) shown.push_back(i);
    return shown;
  }
  if (!marked.empty()) ends = std::max(1, ends / 2);
  std::set<int> chosen;
  const auto choose = [&](int begin, int end) {
    for (int i = std::max(begin, 0); i < std::min(end, count); ++i) chosen.insert(i);
  };
  choose(0, ends);
  for (const ColumnRange& range : marked) {
    choose(range.begin, std::min(range.begin + ends, range.end));
    choose(std::max(range.begin, range.end - ends), range.end);
  }
  choose(count - ends, count);
  int before = -1;
  for (const int i : chosen) {
    if (i != before + 1) shown.push_back(omitted_index);
    shown.push_back(i);
    before = i;
  }
  return shown;
}

ShownIndices shown_rows(const NamedMatrix& matrix) {
  if (matrix.marked_row < 0) return shown_indices(matrix.rows, {});
  return shown_indices(matrix.rows, {{matrix.marked_row, matrix.marked_row + 1}});
}

ShownIndices most_telling_rows(const NamedMatrix& matrix, int most) {
  ShownIndices order;
  for (int row = 0; row < matrix.rows; ++row) order.push_back(row);
  const auto weight = [&](int row) {
    return matrix.values[to_size(row) * to_size(matrix.columns) + to_size(matrix.ranking_column)];
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight(a) > weight(b); });
  // Where rows are left out stands a line, too.
  for (int kept = std::min(most, matrix.rows); kept > 0; --kept) {
    std::vector<int> rows(order.begin(), order.begin() + kept);
    std::sort(rows.begin(), rows.end());
    ShownIndices shown;
    for (const int row : rows) {
      if (row != (shown.empty() ? 0 : shown.back() + 1)) shown.push_back(omitted_index);
      shown.push_back(row);
    }
    if (rows.back() + 1 < matrix.rows) shown.push_back(omitted_index);
    if (to_int(shown.size()) <= most) return shown;
  }
  return {order.front()};
}

ShownIndices shown_columns(const NamedMatrix& matrix, int ends) {
  return shown_indices(matrix.columns, matrix.marked_columns, ends);
}

std::string format_number(float value, bool tiny) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const float size = std::abs(value);
  const bool scientific = size != 0 && (tiny || size >= 1e5F);
  const std::string text = scientific ? fmt::format("{:.0e}", size) : fmt::format("{:.3f}", size);
  return std::signbit(value) && text != "0.000" ? "−" + text : text;
}

bool all_tiny(const NamedMatrix& matrix) {
  float largest = 0;
  for (const float value : matrix.values) largest = std::max(largest, std::abs(value));
  return largest > 0 && largest < 0.01F;
}

std::vector<std::string> row_labels(const NamedMatrix& matrix) {
  std::vector<std::string> rows = labels(matrix.row_tokens, matrix.rows, 0);
  const std::vector<std::string> writes = token_labels(matrix.row_outputs);
  for (std::size_t i = 0; i < std::min(rows.size(), writes.size()); ++i) {
    rows[i] += " → " + writes[i];
  }
  return rows;
}

std::vector<std::string> column_labels(const NamedMatrix& matrix) {
  return labels(matrix.column_tokens, matrix.columns, matrix.first_column);
}

std::string matrix_caption(const NamedMatrix& matrix) {
  std::string text = matrix.listing ? "" : fmt::format("[{}, {}]", matrix.rows, matrix.columns);
  for (const ColumnRange& range : matrix.marked_columns) {
    const bool first = &range == &matrix.marked_columns.front();
    text += fmt::format("{}{}–{}", first ? ", columns " : ", ", range.begin, range.end - 1);
  }
  if (!matrix.marked_columns.empty()) text += " are this head's";
  const bool rows = matrix.rows > kMaxWhole, columns = matrix.columns > kMaxWhole;
  if (rows || columns) {
    text += fmt::format("{}{} cut", text.empty() ? "" : ", ",
                        rows && columns ? "rows and columns"
                        : rows          ? "rows"
                                        : "columns");
  }
  return text;
}

}  // namespace attn
