#include "view/terminal/explanation/latex.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/strings/utf8.h"

namespace attn {
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

/// A name of symbols: base and index.
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

  /// A number with its sign behind another sign: LaTeX sets "· −2" as mathematics never does.
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
    // Words that follow, up to a symbol, are one text with their blanks.
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

  /// Whether the word after a blank is a name with an index, or a function.
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

  /// Of a number, a name or a group in parentheses.
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

  /// Text up to the closing mark; brackets of special symbols are no text in LaTeX.
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
    // Before an index Markdown would take the underscore after a bracket for emphasis.
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
