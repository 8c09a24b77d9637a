#include "base/json_message.h"
#include "base/strings/excerpt.h"
#include "base/strings/lower.h"
#include "base/strings/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace attn {
namespace {

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

bool is_word_byte(char c) {
  return std::isalnum(byte_value(c)) != 0 || c == '_' || c == '.' || c == '+' || c == '-';
}

/// The literal or number around byte `offset`: the lexer stops at its first wrong byte, a person
/// wants to see the whole word. Bounded, since a damaged file may be one long word.
std::string_view word_around(std::string_view text, std::size_t offset, std::size_t& begin) {
  constexpr std::size_t kMost = 60;
  begin = std::min(offset, text.size());
  const std::size_t first = begin > kMost ? begin - kMost : 0;
  while (begin > first && is_word_byte(text[begin - 1])) --begin;
  std::size_t end = begin;
  while (end < text.size() && end < begin + kMost && is_word_byte(text[end])) ++end;
  return text.substr(begin, std::max<std::size_t>(end - begin, 1));
}

std::string_view literal_hint(std::string_view word) {
  const std::string small = ascii_lower(word);
  if (small.starts_with("nan") || small.starts_with("inf")) {
    return "JSON has no NaN and no infinity";
  }
  if (small == "true" || small == "false") return "write true and false in small letters";
  if (small == "none" || small == "null") return "write null";
  if (word.starts_with('/') || word.starts_with('#')) return "JSON has no comments";
  if (word.starts_with('.') || word.starts_with('+')) return "a number begins with a digit or '-'";
  return "strings and keys stand in double quotes";
}

/// An error inside a token: a misspelt literal, a bad number, a broken string.
JsonProblem describe_token_error(std::string_view text, std::size_t offset, std::string_view what) {
  const auto problem = [&](std::string message) { return JsonProblem{offset, std::move(message)}; };
  if (contains(what, "control character")) {
    const unsigned code = byte_value(text[std::min(offset, text.size() - 1)]);
    return problem(fmt::format(
        "found the control character U+{0:04X} in a string, expected it written as \\u{0:04x}",
        code));
  }
  if (contains(what, "ill-formed UTF-8")) {
    if (offset >= text.size()) return problem("found the end of the text inside a character");
    return problem(
        fmt::format("found the byte 0x{:02x}, which is no valid UTF-8 here; save as UTF-8",
                    byte_value(text[offset])));
  }
  if (contains(what, "missing closing quote")) {
    return problem("found the end of the text inside a string, expected '\"'; is it complete?");
  }
  if (contains(what, "4 hex digits")) {
    return problem("found a damaged \\u escape, expected four hexadecimal digits after it");
  }
  if (contains(what, "surrogate")) {
    return problem("found half of a surrogate pair, expected two escapes such as \\ud83d\\ude00");
  }
  if (contains(what, "forbidden character after backslash")) {
    return problem("found an unknown escape, expected one of \" \\ / b f n r t u after the '\\'");
  }
  std::size_t begin = offset;
  const std::string_view word = word_around(text, offset, begin);
  if (contains(what, "invalid number")) {
    return {begin,
            fmt::format("found '{}', expected a number such as -1, 0.5 or 1e-5", excerpt(word))};
  }
  return {begin,
          fmt::format("found '{}', expected a JSON value; {}", excerpt(word), literal_hint(word))};
}

/// What nlohmann expected, from the part "while parsing CONTEXT - … expected TOKEN".
std::string_view expected_words(std::string_view what) {
  if (contains(what, "parsing object key")) return "a key in double quotes";
  if (contains(what, "parsing object separator")) return "':' after the key";
  if (contains(what, "; expected '}'")) return "',' or '}'";
  if (contains(what, "; expected ']'")) return "',' or ']'";
  if (contains(what, "; expected end of input")) return "nothing after the value";
  return "a value";
}

std::string_view token_hint(std::string_view text, std::size_t begin, std::string_view token) {
  const std::string_view before = text.substr(0, begin);
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  const char previous = last == std::string_view::npos ? '\0' : before[last];
  if ((token == "}" || token == "]") && previous == ',') return "; remove the comma before it";
  const bool touches = last + 1 == begin;
  if (touches && previous == '0' && !token.empty() && std::isdigit(token.front())) {
    return "; a number has no leading zeros";
  }
  return "";
}

}  // namespace

TextPosition text_position(std::string_view text, std::size_t offset) {
  TextPosition position;
  for (const char c : text.substr(0, std::min(offset, text.size()))) {
    if (c == '\n') {
      ++position.line;
      position.column = 1;
    } else if (!is_continuation_byte(c)) {
      ++position.column;  // the first byte of a character
    }
  }
  return position;
}

JsonProblem describe_json_error(std::string_view text, std::size_t read, std::string_view token,
                               std::string_view what) {
  const std::size_t last = read == 0 ? 0 : read - 1;
  if (what.starts_with("[json.exception.out_of_range")) {
    return {read - std::min(read, token.size()),
            fmt::format("found the number {}, expected at most about 1.8e308", excerpt(token))};
  }
  // What the file itself holds comes after "; last read:" and must not be taken for a message.
  what = what.substr(0, what.find("; last read:"));
  const std::size_t dash = what.find(" - ");
  const std::string_view detail = dash == std::string_view::npos ? what : what.substr(dash + 3);
  if (detail.starts_with("invalid")) return describe_token_error(text, last, detail);
  if (detail.starts_with("unexpected end of input")) {
    return {text.size(), fmt::format("found the end of the text, expected {}; is it complete?",
                                     expected_words(what))};
  }
  // For a bracket, colon or comma the lexer's token still holds what came before.
  if (detail.starts_with("unexpected '") && last < text.size()) token = text.substr(last, 1);
  const std::size_t begin = read - std::min(read, token.size());
  return {begin,
          fmt::format("found {}, expected {}{}",
                      token.starts_with('"') ? excerpt(token) : fmt::format("'{}'", excerpt(token)),
                      expected_words(what), token_hint(text, begin, token))};
}

}  // namespace attn
