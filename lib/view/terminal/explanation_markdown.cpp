#include "view/terminal/explanation_markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/terminal/explanation/explanation_cells.h"
#include "view/terminal/explanation/latex.h"

namespace attn {
namespace {

// Of a matrix in parentheses; LaTeX itself stops at ten columns.
constexpr int kMaxRows = 12;
constexpr int kMaxColumns = 10;

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

/// What GitHub and others set as a formula; where it cannot be one, as code.
std::string formula(const std::string& written, const std::string& latex) {
  const std::optional<std::string> shown = latex.empty() ? to_latex(printable(written)) : latex;
  return shown ? "$$\n" + *shown + "\n$$\n" : code(written) + "\n";
}

/// "; rows `The`, `group`", for labels that are tokens.
std::string token_list(const char* side, const std::vector<std::string>& labels) {
  std::string text = fmt::format("; {} ", side);
  for (std::size_t i = 0; i < labels.size(); ++i) text += (i > 0 ? ", " : "") + code(labels[i]);
  return text;
}

bool is_small(const NamedMatrix& matrix) {
  return !matrix.listing && matrix.rows <= kMaxRows && matrix.columns <= kMaxColumns &&
         matrix.rows * matrix.columns > 0;
}

/// Every row ends its line: elsewhere Markdown would take one of its two backslashes.
void pmatrix(std::string& out, const NamedMatrix& matrix) {
  out += fmt::format("\n{} {}", code(matrix.name), matrix_caption(matrix));
  if (!matrix.row_tokens.empty()) out += token_list("rows", row_labels(matrix));
  if (!matrix.column_tokens.empty()) out += token_list("columns", column_labels(matrix));
  const std::string name = to_latex(matrix.name).value_or("M");
  out += fmt::format("\n\n$$\n{} = \\begin{{pmatrix}}\n", name);
  const bool tiny = all_tiny(matrix);
  for (int i = 0; i < matrix.rows; ++i) {
    for (int j = 0; j < matrix.columns; ++j) {
      const auto index = to_size(i) * to_size(matrix.columns) + to_size(j);
      const std::string number = format_number(matrix.values[index], tiny);
      const std::string cell = to_latex(number).value_or(number);
      out += j > 0 ? " & " : "";
      out += i == matrix.marked_row ? fmt::format("\\mathbf{{{}}}", cell) : cell;
    }
    out += i + 1 < matrix.rows ? " \\\\\n" : "\n";
  }
  out += "\\end{pmatrix}\n$$\n";
}

/// Sums in one block of formulas, then the lines that are no sums, or hold what is none of LaTeX.
void sums_and_facts(std::string& out, const std::vector<std::string>& lines) {
  std::string sums, facts;
  for (const std::string& line : lines) {
    const bool sum = line.find(" = ") != line.npos;
    const std::optional<std::string> latex = sum ? to_latex(printable(line)) : std::nullopt;
    if (latex) {
      sums += (sums.empty() ? "" : " \\\\\n") + *latex;
    } else {
      facts += "- " + code(line) + "\n";
    }
  }
  if (!sums.empty()) {
    out += "\n$$\n\\begin{gathered}\n" + sums + "\n\\end{gathered}\n$$\n";
  }
  if (!facts.empty()) out += "\n" + facts;
}

void table(std::string& out, const NamedMatrix& matrix) {
  if (is_small(matrix)) return pmatrix(out, matrix);
  const ShownIndices rows = shown_rows(matrix);
  const ShownIndices columns = shown_columns(matrix);
  const std::vector<std::string> sides = row_labels(matrix), tops = column_labels(matrix);
  out += fmt::format("\n{} {}\n\n| |", code(matrix.name), matrix_caption(matrix));
  for (const int j : columns) {
    out += j == omitted_index ? " … |" : fmt::format(" {} |", code(at(tops, j)));
  }
  out += "\n|---|";
  for (std::size_t j = 0; j < columns.size(); ++j) out += "---:|";
  out += '\n';
  for (const int i : rows) {
    const std::string bold = i != omitted_index && i == matrix.marked_row ? "**" : "";
    out += i == omitted_index ? "| ⋮ |" : "| " + bold + code(at(sides, i)) + bold + " |";
    for (const int j : columns) {
      if (i == omitted_index || j == omitted_index) {
        out += " … |";
        continue;
      }
      const auto index = to_size(i) * to_size(matrix.columns) + to_size(j);
      out += " " + bold + format_number(matrix.values[index], all_tiny(matrix)) + bold + " |";
    }
    out += '\n';
  }
}

}  // namespace

std::string explanation_markdown(const Explanation& explanation) {
  std::string out = "# " + plain(truncate_to_width(printable(explanation.title), 200)) + "\n\n";
  for (const std::string& fact : explanation.facts) out += "- " + code(fact) + "\n";
  int number = 0;
  for (const ExplanationStep& step : explanation.steps) {
    ++number;
    const int shown = step.number > 0 ? step.number : number;
    if (!step.title.empty()) out += fmt::format("\n## {}. {}\n", shown, plain(step.title));
    out += '\n';
    if (!step.formula.empty()) out += formula(step.formula, step.latex) + "\n";
    if (!step.shape.empty()) out += "Shapes: " + code(step.shape) + "\n\n";
    if (!step.why.empty()) out += plain(step.why) + "\n";
    for (const NamedMatrix& matrix : step.matrices) table(out, matrix);
    sums_and_facts(out, step.lines);
  }
  return out;
}

}  // namespace attn
