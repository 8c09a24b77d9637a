#include "text/pipeline/characters.h"

#include <unicode/uchar.h>

#include <cstdint>

#include "base/strings/utf8.h"

namespace attn {
namespace {

bool is_white_space(char32_t c) {
  return u_hasBinaryProperty(static_cast<UChar32>(c), UCHAR_WHITE_SPACE) != 0;
}

bool is_word_character(char32_t c) {
  const auto point = static_cast<UChar32>(c);
  const std::uint32_t category = U_GET_GC_MASK(point);
  return u_hasBinaryProperty(point, UCHAR_ALPHABETIC) != 0 ||
         u_hasBinaryProperty(point, UCHAR_JOIN_CONTROL) != 0 ||
         (category & (U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) != 0;
}

/// The character before the end of a text that is not empty.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && is_continuation_byte(text[begin])) --begin;
  return text.substr(begin);
}

}  // namespace

std::size_t leading_whitespace_bytes(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    const CodePoint c = decode_code_point(text.substr(length));
    if (!is_white_space(c.value)) break;
    length += c.length;
  }
  return length;
}

std::size_t trailing_whitespace_bytes(std::string_view text) {
  std::size_t end = text.size();
  while (end > 0) {
    const std::string_view last = last_character(text.substr(0, end));
    if (!is_white_space(decode_code_point(last).value)) break;
    end -= last.size();
  }
  return text.size() - end;
}

bool begins_with_word_character(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(text).value);
}

bool ends_with_word_character(std::string_view text) {
  return !text.empty() && is_word_character(decode_code_point(last_character(text)).value);
}

}  // namespace attn
