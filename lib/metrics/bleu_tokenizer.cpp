#include "metrics/bleu_tokenizer.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "metrics/unicode_text.h"

namespace attn {
namespace {

constexpr std::array<std::pair<BleuTokenizer, std::string_view>, 5> kNames = {{
    {BleuTokenizer::v13a, "13a"},
    {BleuTokenizer::intl, "intl"},
    {BleuTokenizer::zh, "zh"},
    {BleuTokenizer::chars, "char"},
    {BleuTokenizer::none, "none"},
}};

}  // namespace

std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer) {
  for (const auto& [known, name] : kNames) {
    if (known == tokenizer) return name;
  }
  return {};
}

std::optional<BleuTokenizer> parse_bleu_tokenizer(std::string_view name) {
  for (const auto& [tokenizer, known] : kNames) {
    if (known == name) return tokenizer;
  }
  return std::nullopt;
}

NgramUnits bleu_units(std::string_view sentence, BleuTokenizer tokenizer) {
  sentence = strip_right(sentence);
  switch (tokenizer) {
    case BleuTokenizer::v13a:
      return word_units(tokenize_13a(sentence));
    case BleuTokenizer::intl:
      return word_units(tokenize_international(sentence));
    case BleuTokenizer::zh:
      return word_units(tokenize_chinese(sentence));
    case BleuTokenizer::chars:
      return character_units(sentence);
    case BleuTokenizer::none:
      break;
  }
  return word_units(sentence);
}

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

/// The class [\{-\~\[-\` -\&\(-\+\:-\@\/] of mteval-v13a: ASCII punctuation and the space, except
/// '',-.'.
bool stands_alone(char c) {
  return (c >= ' ' && c <= '&') || (c >= '(' && c <= '+') || c == '/' || (c >= ':' && c <= '@') ||
         (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/// The regex substitution s/(first)(second)/format/ for two single characters, from left to right
/// without overlap, which puts spaces before, between and after them as requested. Working on bytes
/// is enough: every class except "not a digit" is ASCII, and of a longer character only the
/// adjacent byte matters.
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

namespace {

/// A character of a text: its bytes and its code point, which is negative for an invalid byte.
struct Character {
  std::string_view bytes;
  UChar32 code = 0;
};

/// Returns the first character of a non-empty text. A byte that does not begin a character counts
/// as one.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {text.substr(0, 1), static_cast<UChar32>(lead)};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || length > text.size()) return {text.substr(0, 1), -1};
  UChar32 code = static_cast<UChar32>(lead & (0x7FU >> length));
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {text.substr(0, 1), -1};
    code = code << 6 | (byte(i) & 0x3F);
  }
  return {text.substr(0, length), code};
}

std::vector<Character> characters_of(std::string_view text) {
  std::vector<Character> characters;
  characters.reserve(text.size());
  while (!text.empty()) {
    characters.push_back(first_character(text));
    text.remove_prefix(characters.back().bytes.size());
  }
  return characters;
}

bool is_of(UChar32 code, std::uint32_t categories) {
  return code >= 0 && (U_GET_GC_MASK(code) & categories) != 0;
}
bool is_punctuation(UChar32 code) {
  return is_of(code, U_GC_P_MASK);
}
bool is_no_number(UChar32 code) {
  return !is_of(code, U_GC_N_MASK);
}

constexpr Character kBlank{" ", ' '};

/// The substitution s/(first)(second)/…/ from left to right without overlap, with a space between
/// the two characters and another one before the first or after the second.
struct CategoryRule {
  bool (*first)(UChar32);
  bool (*second)(UChar32);
  bool blank_before;
};

std::vector<Character> spaced_pairs(const CategoryRule& rule, const std::vector<Character>& text) {
  std::vector<Character> result;
  result.reserve(text.size() + text.size() / 4);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i + 1 == text.size() || !rule.first(text[i].code) || !rule.second(text[i + 1].code)) {
      result.push_back(text[i]);
      continue;
    }
    if (rule.blank_before) result.push_back(kBlank);
    result.push_back(text[i]);
    result.push_back(kBlank);
    result.push_back(text[++i]);
    if (!rule.blank_before) result.push_back(kBlank);
  }
  return result;
}

struct Block {
  UChar32 first, last;
};
constexpr std::array<Block, 22> kChinese = {{
    {0x3400, 0x4DB5}, {0x4E00, 0x9FA5}, {0x9FA6, 0x9FBB}, {0xF900, 0xFA2D}, {0xFA30, 0xFA6A},
    {0xFA70, 0xFAD9}, {0x2001, 0x2A6D}, {0x2F81, 0x2FA1}, {0xFF00, 0xFFEF}, {0x2E80, 0x2EFF},
    {0x3000, 0x303F}, {0x31C0, 0x31EF}, {0x2F00, 0x2FDF}, {0x2FF0, 0x2FFF}, {0x3100, 0x312F},
    {0x31A0, 0x31BF}, {0xFE10, 0xFE1F}, {0xFE30, 0xFE4F}, {0x2600, 0x26FF}, {0x2700, 0x27BF},
    {0x3200, 0x32FF}, {0x3300, 0x33FF},
}};

bool is_chinese(UChar32 code) {
  return std::ranges::any_of(kChinese,
                             [&](const Block& b) { return b.first <= code && code <= b.last; });
}

/// Joins the characters, with spaces around those for which `alone` is true.
std::string joined(const std::vector<Character>& text, bool (*alone)(UChar32)) {
  std::string result;
  for (const Character& c : text) {
    const bool blanks = alone(c.code);
    if (blanks) result += ' ';
    result += c.bytes;
    if (blanks) result += ' ';
  }
  return result;
}

}  // namespace

std::string tokenize_international(std::string_view line) {
  std::vector<Character> text = characters_of(line);
  text = spaced_pairs({is_no_number, is_punctuation, false}, text);
  text = spaced_pairs({is_punctuation, is_no_number, true}, text);
  return normalize_spaces(joined(text, [](UChar32 code) { return is_of(code, U_GC_S_MASK); }));
}

std::string tokenize_chinese(std::string_view line) {
  return separate_punctuation(joined(characters_of(strip_spaces(line)), is_chinese));
}

}  // namespace attn
