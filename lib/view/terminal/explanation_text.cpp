#include "view/terminal/explanation_text.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/map_labels.h"

namespace attn {
namespace {

constexpr int kWidestLabel = 16;
constexpr int lines_beside_rows = 18;  // lines of a short explanation, and the prompt
constexpr const char* kBold = "\x1b[1m";
constexpr const char* kReset = "\x1b[0m";

std::string right(const std::string& text, int columns) {
  return std::string(to_size(std::max(0, columns - display_width(text))), ' ') + text;
}

std::string left(const std::string& text, int columns) {
  return text + std::string(to_size(std::max(0, columns - display_width(text))), ' ');
}

/// Wraps words to a width; lines after the first are indented.
void fold(std::string& out, const std::string& text, int width, int indent) {
  int column = 0;
  std::size_t start = 0;
  const std::string blanks(to_size(indent), ' ');
  while (start < text.size()) {
    std::size_t end = text.find(' ', start);
    if (end == std::string::npos) end = text.size();
    const std::string word = truncate_to_width(text.substr(start, end - start), width - indent);
    const int wide = display_width(word);
    if (column > 0 && column + 1 + wide > width) {
      out += "\n" + blanks;
      column = indent;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += wide;
    start = end + 1;
  }
  out += '\n';
}

class ExplanationRenderer {
 public:
  explicit ExplanationRenderer(const TerminalStyle& style)
      : width_(std::max(style.width, min_terminal_width)),
        height_(style.height),
        colored_(style.color != ColorMode::none) {}

  std::string draw(const Explanation& explanation) {
    head(explanation.title, '=');
    const bool brief = explanation.steps.size() == 1 && explanation.steps.front().title.empty();
    if (brief && height_ > 0) max_rows_ = std::max(1, height_ - lines_beside_rows);
    if (brief) {
      draw_facts_briefly(explanation.facts);
    } else {
      for (const std::string& fact : explanation.facts) fold(out_, printable(fact), width_, 2);
    }
    int number = 0;
    for (const ExplanationStep& step : explanation.steps) {
      ++number;
      draw_step(step, step.number > 0 ? step.number : number);
    }
    return std::move(out_);
  }

 private:
  void head(const std::string& text, char rule) {
    const std::string shown = truncate_to_width(printable(text), width_);
    out_ += colored_ ? kBold + shown + kReset : shown;
    out_ += '\n' + std::string(to_size(display_width(shown)), rule) + '\n';
  }

  /// Draws each fact on one line, or two on one line where they fit.
  void draw_facts_briefly(const std::vector<std::string>& facts) {
    std::string line;
    for (const std::string& fact : facts) {
      const std::string shown = truncate_to_width(printable(fact), width_);
      const bool fits = display_width(line) + 3 + display_width(shown) <= width_;
      if (!line.empty() && !fits) out_ += std::exchange(line, "") + '\n';
      line += (line.empty() ? "" : " · ") + shown;
    }
    out_ += line + '\n';
  }

  /// Breaks a formula between equations if it is too long for a line.
  void draw_formula(std::string_view formula) {
    constexpr std::string_view between = ",  ";
    std::string line;
    while (!formula.empty()) {
      const std::size_t end = formula.find(between);
      std::string part(formula.substr(0, end));
      const bool last = end == formula.npos;
      formula.remove_prefix(last ? formula.size() : end + between.size());
      if (!last) part += ',';
      const bool begins = line.empty();
      if (!begins && display_width(line) + 2 + display_width(part) > width_) {
        fold(out_, std::exchange(line, ""), width_, 4);
      } else if (!begins) {
        line += "  ";
      }
      line += part;
    }
    fold(out_, line, width_, 4);
  }

  void draw_step(const ExplanationStep& step, int number) {
    out_ += '\n';
    if (!step.title.empty()) head(fmt::format("{}. {}", number, step.title), '-');
    if (!step.formula.empty()) draw_formula(step.formula);
    if (!step.shape.empty()) fold(out_, "  " + step.shape, width_, 4);
    if (!step.why.empty()) fold(out_, step.why, width_, 0);
    for (const NamedMatrix& matrix : step.matrices) draw_matrix(matrix);
    if (!step.lines.empty()) out_ += '\n';
    for (const std::string& line : step.lines) fold(out_, "  " + printable(line), width_, 6);
  }

  void draw_matrix(const NamedMatrix& matrix) {
    out_ += '\n';
    const std::string caption = matrix_caption(matrix);
    fold(out_, printable(matrix.name) + (caption.empty() ? "" : "  " + caption), width_, 2);
    const bool by_telling = matrix.ranking_column >= 0 && max_rows_ > 0 && matrix.rows > max_rows_;
    const ShownIndices rows =
        by_telling ? most_telling_rows(matrix, max_rows_) : shown_rows(matrix);
    ShownIndices columns = shown_columns(matrix);
    const std::vector<std::string> sides = row_labels(matrix), tops = column_labels(matrix);
    const bool tiny = all_tiny(matrix);
    int label = 1, cell = 1;
    for (const int i : rows) {
      if (i == omitted_index) continue;
      label = std::max(label, display_width(at(sides, i)));
      for (const int j : columns) {
        if (j != omitted_index)
          cell = std::max(cell, display_width(format_number(value(matrix, i, j), tiny)));
      }
    }
    label = std::min(label, std::max(kWidestLabel, width_ / 4));
    for (const int j : columns) {
      if (j != omitted_index) cell = std::max(cell, display_width(at(tops, j)));
    }
    cell = std::min(cell, std::max(9, width_ / 4));
    const int per_block = std::max(1, (width_ - label - 2) / (cell + 1));
    // A matrix that must be cut anyway is cut to the window's width.
    for (int ends = 3; ends > 0 && to_int(columns.size()) > per_block; --ends) {
      const ShownIndices fewer = shown_columns(matrix, ends);
      if (std::find(fewer.begin(), fewer.end(), omitted_index) == fewer.end()) break;
      columns = fewer;
    }
    for (std::size_t first = 0; first < columns.size(); first += to_size(per_block)) {
      const std::size_t last = std::min(columns.size(), first + to_size(per_block));
      draw_block(matrix, rows,
                 {columns.begin() + to_index(first), columns.begin() + to_index(last)},
                 {label, cell});
    }
  }

  struct Widths {
    int label;
    int cell;
  };

  void draw_block(const NamedMatrix& matrix, const ShownIndices& rows, const ShownIndices& columns,
                  Widths widths) {
    const std::vector<std::string> sides = row_labels(matrix), tops = column_labels(matrix);
    const bool tiny = all_tiny(matrix);
    std::string line(to_size(widths.label + 2), ' ');
    for (const int j : columns) {
      const std::string top =
          j == omitted_index ? "…" : truncate_to_width(at(tops, j), widths.cell);
      const bool bold =
          colored_ &&
          std::any_of(matrix.marked_columns.begin(), matrix.marked_columns.end(),
                      [j](ColumnRange range) { return j >= range.begin && j < range.end; });
      line +=
          fmt::format("{} {}{}", bold ? kBold : "", right(top, widths.cell), bold ? kReset : "");
    }
    out_ += line + '\n';
    for (const int i : rows) {
      if (i == omitted_index) {
        out_ += "  ⋮\n";
        continue;
      }
      const bool marked = i == matrix.marked_row;
      line = (marked ? "▸ " : "  ") +
             left(truncate_to_width(at(sides, i), widths.label), widths.label);
      for (const int j : columns) {
        line += ' ';
        line +=
            right(j == omitted_index ? "…" : format_number(value(matrix, i, j), tiny), widths.cell);
      }
      out_ += marked && colored_ ? kBold + line + kReset : line;
      out_ += '\n';
    }
  }

  static float value(const NamedMatrix& matrix, int i, int j) {
    return matrix.values[to_size(i) * to_size(matrix.columns) + to_size(j)];
  }

  int width_;
  int height_;
  int max_rows_ = 0;  ///< maximum for a table that may be cut; 0: no limit
  bool colored_;
  std::string out_;
};

}  // namespace

std::string explanation_text(const Explanation& explanation, const TerminalStyle& style) {
  return ExplanationRenderer(style).draw(explanation);
}

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
  // A gap between rows also takes a line.
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
