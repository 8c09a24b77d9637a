#include "view/terminal/explanation_markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/at.h"
#include "base/utf8.h"
#include "view/terminal/explanation_cells.h"

namespace attn {
namespace {

/// Text as a code span, which neither HTML nor Markdown in it can leave; inside a table `|` would
/// end the cell even there.
std::string code(const std::string& text) {
  const std::string shown = printable(text);
  std::size_t longest = 0, run = 0;
  for (const char c : shown) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string out;
  for (const char c : shown) out += c == '|' ? "\\|" : std::string(1, c);
  const bool pad = shown.empty() || shown.front() == '`' || shown.back() == '`';
  return fence + (pad ? " " : "") + out + (pad ? " " : "") + fence;
}

/// Text outside of code: what Markdown or HTML would read is escaped.
std::string plain(const std::string& text) {
  std::string out;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>&#|~").find(c) != std::string_view::npos) {
      if (c == '<' || c == '>' || c == '&') {
        out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
        continue;
      }
      out += '\\';
    }
    out += c;
  }
  return out;
}

void table(std::string& out, const NamedMatrix& matrix) {
  const ShownIndices rows = shown_rows(matrix);
  const ShownIndices columns = shown_columns(matrix);
  const std::vector<std::string> sides = row_labels(matrix), tops = column_labels(matrix);
  out += fmt::format("\n{} {}\n\n| |", code(matrix.name), matrix_caption(matrix));
  for (const int j : columns) {
    out += j == cut ? " … |" : fmt::format(" {} |", code(at(tops, j)));
  }
  out += "\n|---|";
  for (std::size_t j = 0; j < columns.size(); ++j) out += "---:|";
  out += '\n';
  for (const int i : rows) {
    const std::string bold = i != cut && i == matrix.marked_row ? "**" : "";
    out += i == cut ? "| ⋮ |" : "| " + bold + code(at(sides, i)) + bold + " |";
    for (const int j : columns) {
      if (i == cut || j == cut) {
        out += " … |";
        continue;
      }
      const auto index = to_size(i) * to_size(matrix.columns) + to_size(j);
      out += " " + bold + cell_number(matrix.values[index], all_tiny(matrix)) + bold + " |";
    }
    out += '\n';
  }
}

}  // namespace

std::string explanation_markdown(const Explanation& explanation) {
  std::string out = "# " + plain(fit_width(printable(explanation.title), 200)) + "\n\n";
  for (const std::string& fact : explanation.facts) out += "- " + code(fact) + "\n";
  int number = 0;
  for (const ExplanationStep& step : explanation.steps) {
    out += fmt::format("\n## {}. {}\n\n", ++number, plain(step.title));
    if (!step.formula.empty()) out += code(step.formula) + "\n\n";
    if (!step.shape.empty()) out += "Shapes: " + code(step.shape) + "\n\n";
    if (!step.why.empty()) out += plain(step.why) + "\n";
    for (const NamedMatrix& matrix : step.matrices) table(out, matrix);
    if (!step.lines.empty()) out += '\n';
    for (const std::string& line : step.lines) out += "- " + code(line) + "\n";
  }
  return out;
}

}  // namespace attn
