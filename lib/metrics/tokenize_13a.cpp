#include "metrics/tokenize_13a.h"

#include <cstddef>

#include "metrics/unicode_text.h"

namespace attn {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::size_t at = text.find(from);
  if (at == std::string::npos) return;
  std::string result;
  std::size_t copied = 0;
  for (; at != std::string::npos; at = text.find(from, copied)) {
    result.append(text, copied, at - copied).append(to);
    copied = at + from.size();
  }
  text = result.append(text, copied);
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_point(char c) {
  return c == '.' || c == ',';
}
bool is_not_digit(char c) {
  return !is_digit(c);
}
bool is_hyphen(char c) {
  return c == '-';
}

/// [\{-\~\[-\` -\&\(-\+\:-\@\/] of mteval-v13a: ASCII punctuation and the blank, without '',-.'.
bool stands_alone(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// The regex substitution s/(first)(second)/format/ for two single characters, from the left and
/// without overlap: a blank before, between and behind them where asked. Bytes do for characters:
/// every class but "no digit" is ASCII, and of a longer character only the byte beside matters.
struct PairRule {
  bool (*first)(char);
  bool (*second)(char);
  bool blank_before;
  bool blank_behind;
};

std::string with_blanks(const PairRule& rule, std::string_view text) {
  std::string result;
  result.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !rule.first(text[i]) || !rule.second(text[i + 1])) {
      result += text[i];
      continue;
    }
    if (rule.blank_before) result += ' ';
    result += text[i];
    result += ' ';
    result += text[++i];
    if (rule.blank_behind) result += ' ';
  }
  return result;
}

constexpr PairRule kPointBehindNoDigit{is_not_digit, is_point, false, true};
constexpr PairRule kPointBeforeNoDigit{is_point, is_not_digit, true, false};
constexpr PairRule kHyphenBehindDigit{is_digit, is_hyphen, false, true};

}  // namespace

std::string tokenize_13a(std::string_view line) {
  std::string text(line);
  replace_all(text, "<skipped>", "");
  replace_all(text, "-\n", "");
  replace_all(text, "\n", " ");
  replace_all(text, "&quot;", "\"");
  replace_all(text, "&amp;", "&");
  replace_all(text, "&lt;", "<");
  replace_all(text, "&gt;", ">");

  return separate_punctuation(" " + text + " ");
}

std::string separate_punctuation(std::string_view text) {
  std::string spaced;
  for (const char c : text) {
    if (stands_alone(c)) {
      spaced.append({' ', c, ' '});
    } else {
      spaced += c;
    }
  }
  for (const PairRule& rule : {kPointBehindNoDigit, kPointBeforeNoDigit, kHyphenBehindDigit}) {
    spaced = with_blanks(rule, spaced);
  }
  return normalize_spaces(spaced);
}

}  // namespace attn
