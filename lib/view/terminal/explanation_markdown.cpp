#include "view/terminal/explanation_markdown.h"

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "view/terminal/explanation_text.h"

namespace attn {
namespace {

// Limits of a pmatrix; LaTeX itself allows ten columns.
constexpr int kMaxRows = 12;
constexpr int kMaxColumns = 10;

/// Returns text as a code span that no HTML or Markdown in it can end. In a table, `|` would end
/// the cell even inside a code span.
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

/// Escapes text outside of code for Markdown and HTML.
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

/// Returns a formula between dollar signs, or as code if it has no LaTeX form.
std::string formula(const std::string& written, const std::string& latex) {
  const std::optional<std::string> shown = latex.empty() ? to_latex(printable(written)) : latex;
  return shown ? "$$\n" + *shown + "\n$$\n" : code(written) + "\n";
}

/// Returns "; rows `The`, `group`" for labels that are tokens.
std::string token_list(const char* side, const std::vector<std::string>& labels) {
  std::string text = fmt::format("; {} ", side);
  for (std::size_t i = 0; i < labels.size(); ++i) text += (i > 0 ? ", " : "") + code(labels[i]);
  return text;
}

bool is_small(const NamedMatrix& matrix) {
  return !matrix.listing && matrix.rows <= kMaxRows && matrix.columns <= kMaxColumns &&
         matrix.rows * matrix.columns > 0;
}

/// Every matrix row ends its line; elsewhere Markdown would remove one of its two backslashes.
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

/// Appends sums in one block of formulas, then the lines that are not sums or cannot be written as
/// LaTeX.
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

namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array kSymbols = {
    Pair{"·", "\\cdot "}, Pair{"−", "-"},        Pair{"ᵀ", "^{\\top}"},
    Pair{"Σ", "\\sum "},  Pair{"∞", "\\infty "}, Pair{"…", "\\dots "},
    Pair{"→", "\\to "},   Pair{"<", "\\lt "},    Pair{">", "\\gt "},
};
constexpr std::array kFunctions = {
    Pair{"exp", "\\exp "},
    Pair{"max", "\\max "},
    Pair{"cos", "\\cos "},
    Pair{"softmax", "\\operatorname{softmax}"},
    Pair{"norm", "\\operatorname{norm}"},
};
constexpr std::string_view kTextMarks = " .,;:!?'-/()=+[]0123456789";

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Returns a symbol with base and index.
std::string indexed(std::string_view base, std::string_view index) {
  if (base == "head" && index == "dim") return "d_{\\text{head}}";
  const std::string shown = index.size() == 1 || is_digit(index[0])
                                ? std::string(index)
                                : fmt::format("\\text{{{}}}", index);
  if (base == "max") return fmt::format("\\max_{{{}}}", shown);
  return base.size() == 1 ? fmt::format("{}_{{{}}}", base, shown)
                          : fmt::format("\\text{{{}}}_{{{}}}", base, shown);
}

class LatexConverter {
 public:
  explicit LatexConverter(std::string_view text) : text_(text) {}

  std::optional<std::string> convert() {
    while (good_ && !text_.empty()) step();
    if (!good_) return std::nullopt;
    return std::move(out_);
  }

 private:
  void step() {
    const char c = text_[0];
    if (c == ' ') return blanks();
    if (is_letter(c)) return word();
    if (is_digit(c)) return number();
    if (take("√")) return root();
    if (take("“")) return quoted();
    if (is_negative_operand()) return in_parentheses();
    for (const auto& [symbol, latex] : kSymbols) {
      if (!take(symbol)) continue;
      out_ += latex;
      if (symbol == "Σ" && take("_")) out_ += fmt::format("_{{{}}} ", name());
      return;
    }
    punctuation(c);
  }

  /// True if a number's minus sign follows an operator: "· −2" needs parentheses.
  bool is_negative_operand() const {
    constexpr std::string_view minus = "−";
    return text_.starts_with(minus) && text_.size() > minus.size() &&
           is_digit(text_[minus.size()]) && (out_.ends_with("\\cdot ") || out_.ends_with("+ "));
  }

  void in_parentheses() {
    take("−");
    out_ += "(-";
    number();
    out_ += ')';
  }

  bool take(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }

  std::string_view take_while(auto&& wanted) {
    const auto end = std::find_if_not(text_.begin(), text_.end(), wanted);
    const auto size = static_cast<std::size_t>(end - text_.begin());
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(size);
    return taken;
  }

  std::string_view name() {
    return take_while([](char c) { return is_letter(c) || is_digit(c); });
  }

  void blanks() {
    const std::size_t count = take_while([](char c) { return c == ' '; }).size();
    if (text_.empty()) return;
    if (count > 1) {
      out_ += " \\quad ";
    } else if (text_.starts_with("| ")) {
      take("| ");
      out_ += " \\mid ";
    } else {
      out_ += ' ';
    }
  }

  void word() {
    const std::string_view first = name();
    if (take("_")) {
      out_ += indexed(first, name());
      return;
    }
    for (const auto& [function, latex] : kFunctions) {
      const bool called = function != "norm" || text_.starts_with('(');
      if (first == function && called) {
        out_ += latex;
        return;
      }
    }
    if (first.size() == 1) {
      out_ += first;
      return;
    }
    if (is_digit(first[1])) {  // v0
      out_ += indexed(first.substr(0, 1), first.substr(1));
      return;
    }
    std::string words(first);
    // Consecutive words, up to a symbol, become one text with their spaces.
    while (true) {
      words += take_while([](char c) { return c == '\''; });
      words += name();
      const bool more = text_.size() > 2 && text_[0] == ' ' && is_letter(text_[1]) &&
                        is_letter(text_[2]) && !symbol_follows();
      if (!more) break;
      take(" ");
      words += " ";
      words += name();
    }
    const bool before = out_.ends_with(' ') && !out_.ends_with("\\quad ");
    const bool after = text_.size() > 1 && text_[0] == ' ' && text_[1] != ' ';
    if (after) take(" ");
    out_ += fmt::format("\\text{{{}{}{}}}", before ? " " : "", words, after ? " " : "");
  }

  /// True if the word after a space is a name with an index, or a function.
  bool symbol_follows() const {
    std::size_t end = 1;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
    const std::string_view next = text_.substr(1, end - 1);
    if (end < text_.size() && text_[end] == '_') return true;
    return std::any_of(kFunctions.begin(), kFunctions.end(),
                       [&](const Pair& function) { return function.first == next; });
  }

  void number() {
    const std::string_view digits = take_while([](char c) { return is_digit(c) || c == '.'; });
    const bool power = text_.size() > 2 && text_[0] == 'e' && (text_[1] == '-' || text_[1] == '+');
    if (!power || !is_digit(text_[2])) {
      out_ += digits;
      return;
    }
    const bool negative = text_[1] == '-';
    text_.remove_prefix(2);
    take_while([](char c) { return c == '0'; });
    const std::string_view exponent = take_while(is_digit);
    out_ += fmt::format("{}10^{{{}{}}}", digits == "1" ? "" : fmt::format("{} \\cdot ", digits),
                        negative ? "-" : "", exponent.empty() ? "0" : exponent);
  }

  /// Converts the root of a number, a name or a group in parentheses.
  void root() {
    std::string_view inner;
    if (text_.starts_with('(')) {
      int open = 0;
      std::size_t end = 0;
      do {
        if (text_[end] == '(') ++open;
        if (text_[end] == ')') --open;
        ++end;
      } while (open > 0 && end < text_.size());
      inner = text_.substr(1, end - 2);
      text_.remove_prefix(end);
    } else {
      inner = take_while([](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
    }
    const std::optional<std::string> under = LatexConverter(inner).convert();
    good_ = good_ && under && !inner.empty();
    if (under) out_ += fmt::format("\\sqrt{{{}}}", *under);
  }

  /// Converts text up to the closing quotation mark; the angle brackets of special symbols are not
  /// text in LaTeX.
  void quoted() {
    const std::size_t end = text_.find("”");
    if (end == text_.npos) {
      good_ = false;
      return;
    }
    std::string inner = "“";
    for (const char c : text_.substr(0, end)) {
      const bool plain = is_letter(c) || static_cast<unsigned char>(c) >= 0x80 ||
                         kTextMarks.find(c) != kTextMarks.npos;
      if (c == '<' || c == '>') {
        inner += c == '<' ? "}\\lt\\text{" : "}\\gt\\text{";
      } else if (plain) {
        inner += c;
      } else {
        good_ = false;
      }
    }
    text_.remove_prefix(end + std::string_view("”").size());
    out_ += fmt::format("\\text{{{}”}}", inner);
  }

  void punctuation(char c) {
    // With an index after a bracket, Markdown would take the underscore for emphasis.
    if (take("]_")) {
      out_ += fmt::format("]^{{\\text{{{}}}}}", name());
      return;
    }
    good_ = std::string_view("=+-/()[],:.|").find(c) != std::string_view::npos;
    out_ += c;
    text_.remove_prefix(1);
  }

  std::string_view text_;
  std::string out_;
  bool good_ = true;
};

}  // namespace

std::optional<std::string> to_latex(std::string_view formula) {
  return LatexConverter(formula).convert();
}

}  // namespace attn
