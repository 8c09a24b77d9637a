#include "view/terminal/table.h"

#include <algorithm>
#include <cstddef>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/terminal/styled_text.h"

namespace attn {
namespace {

constexpr int kGap = 2;

std::string blanks(int n) {
  return std::string(to_size(std::max(n, 0)), ' ');
}

std::string aligned(const std::string& cell, int width, bool right) {
  const std::string padding = blanks(width - display_width(cell));
  return right ? padding + cell : cell + padding;
}

void trim_end(std::string& line) {
  line.erase(line.find_last_not_of(' ') + 1);
}

/// Breaks text at spaces so that no line is wider than `width`, except for a single longer word.
std::vector<std::string> fold(const std::string& text, int width) {
  std::vector<std::string> lines(1);
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    begin = end + 1;
    if (lines.back().empty()) {
      lines.back() = word;
    } else if (display_width(lines.back()) + 1 + display_width(word) <= width) {
      lines.back() += " " + word;
    } else {
      lines.push_back(word);
    }
  }
  return lines;
}

/// Returns the width of the widest cell of each column, including the header.
std::vector<int> widths_of(const std::vector<TableColumn>& columns,
                           const std::vector<std::vector<std::string>>& rows) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < columns.size(); ++c) {
    int widest = display_width(columns[c].name);
    for (const auto& row : rows) {
      if (c < row.size()) widest = std::max(widest, display_width(row[c]));
    }
    widths.push_back(widest);
  }
  return widths;
}

class TableText {
 public:
  TableText(const Table& table, int width) : width_(std::max(width, min_terminal_width)) {
    columns_ = table.columns;
    for (const auto& row : table.rows) {
      rows_.emplace_back();
      for (const std::string& cell : row) rows_.back().push_back(printable(cell));
    }
    widths_ = widths_of(columns_, rows_);
    for (std::size_t c = 0; c + 1 < widths_.size(); ++c) last_start_ += widths_[c] + kGap;
    if (!widths_.empty() && !columns_.back().right) {
      widths_.back() = std::clamp(width_ - last_start_, 1, std::max(widths_.back(), 1));
    }
  }

  std::string draw() {
    const bool named = std::any_of(columns_.begin(), columns_.end(),
                                   [](const TableColumn& column) { return !column.name.empty(); });
    if (named) {
      std::vector<std::string> names;
      for (const TableColumn& column : columns_) names.push_back(column.name);
      add_row(names);
      add_rule();
    }
    for (const auto& row : rows_) {
      if (row.empty()) {
        add_rule();
      } else {
        add_row(row);
      }
    }
    return text_;
  }

 private:
  void add_row(const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size() && c < columns_.size(); ++c) {
      if (c > 0) line += blanks(kGap);
      const bool last = c + 1 == columns_.size();
      if (last && !columns_[c].right) {
        // A long last cell continues below, in its own column.
        const std::vector<std::string> lines = fold(row[c], widths_[c]);
        for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
          line += lines[i] + "\n" + blanks(last_start_);
        }
        line += lines.back();
      } else {
        line += aligned(row[c], widths_[c], columns_[c].right);
      }
    }
    trim_end(line);
    text_ += line + "\n";
  }

  void add_rule() {
    const int whole = last_start_ + (widths_.empty() ? 0 : widths_.back());
    for (int i = 0; i < whole; ++i) text_ += "─";
    text_ += "\n";
  }

  int width_;
  int last_start_ = 0;
  std::vector<TableColumn> columns_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<int> widths_;
  std::string text_;
};

}  // namespace

std::string with_thousands_separators(std::uint64_t number) {
  std::string text = std::to_string(number);
  for (std::size_t end = text.size(); end > 3; end -= 3) text.insert(end - 3, 1, ',');
  return text;
}

std::string render_table(const Table& table, int width) {
  std::string text;
  if (!table.title.empty()) text += printable(table.title) + "\n\n";
  text += TableText(table, width).draw();
  if (!table.notes.empty()) text += "\n";
  for (const std::string& note : table.notes) {
    for (const std::string& line : fold(printable(note), std::max(width, min_terminal_width))) {
      text += line + "\n";
    }
  }
  return text;
}

std::string render_tables(const std::vector<Table>& tables, int width) {
  std::string text;
  for (const Table& table : tables) {
    if (!text.empty()) text += '\n';
    text += render_table(table, width);
  }
  return text;
}

}  // namespace attn
