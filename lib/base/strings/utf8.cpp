#include "base/strings/utf8.h"

#include <fmt/format.h>
#include <unicode/uchar.h>
#include <unicode/utf8.h>
#include <algorithm>
#include <cstdint>

#include "base/at.h"

namespace attn {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F);
}

/// True for characters that reorder or break the text around them.
bool is_layout_control(char32_t c) {
  return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

/// Returns the columns of a printable character: 0 for combining characters, invisible format
/// characters and Hangul vowels and finals; 2 for the East Asian widths W and F, which include
/// emoji, and for both ideographic planes, assigned or not.
int width_of(char32_t c) {
  if (c < 0x300) return 1;
  if (c >= 0x1160 && c <= 0x11FF) return 0;
  if (c >= 0x20000 && c <= 0x3FFFD) return 2;
  const auto point = static_cast<UChar32>(c);
  const std::uint32_t category = U_GET_GC_MASK(point);
  if ((category & U_GC_CN_MASK) != 0) return 1;
  if ((category & (U_GC_MN_MASK | U_GC_ME_MASK)) != 0) return 0;
  // Arabic and Kaithi number signs are format characters but visible.
  if ((category & U_GC_CF_MASK) != 0 &&
      !u_hasBinaryProperty(point, UCHAR_PREPENDED_CONCATENATION_MARK)) {
    return 0;
  }
  const int width = u_getIntPropertyValue(point, UCHAR_EAST_ASIAN_WIDTH);
  return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

/// Returns the number of bytes of `text` that fill at most `columns` columns, with the combining
/// characters of the last character.
std::size_t prefix_length(std::string_view text, int columns) {
  std::size_t at = 0;
  int used = 0;
  while (at < text.size()) {
    const CodePoint c = decode_code_point(text.substr(at));
    used += width_of(c.value);
    if (used > columns) break;
    at += c.length;
  }
  return at;
}

/// True if a line end begins here; a lone \r counts only at the end of the text.
bool ends_line(std::string_view rest) {
  return rest.starts_with('\n') || rest.starts_with("\r\n") || rest == "\r";
}

}  // namespace

// ICU's macros convert freely between signs and sizes.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"

CodePoint decode_code_point(std::string_view bytes) {
  const auto size = static_cast<std::int32_t>(std::min<std::size_t>(bytes.size(), U8_MAX_LENGTH));
  std::int32_t length = 0;
  UChar32 value = 0;
  U8_NEXT(bytes.data(), length, size, value);
  const auto taken = to_size(length);
  if (value < 0) return {0xFFFD, taken, false};
  return {static_cast<char32_t>(value), taken, true};
}

void append_code_point(std::string& out, char32_t value) {
  char bytes[U8_MAX_LENGTH];
  std::size_t length = 0;
  U8_APPEND_UNSAFE(bytes, length, value);
  out.append(bytes, length);
}

#pragma GCC diagnostic pop

CleanedText clean_text(std::string_view bytes) {
  CleanedText cleaned;
  cleaned.text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_code_point(bytes.substr(at));
    if (!c.valid) {
      ++cleaned.invalid_bytes;
      cleaned.text += kReplacement;
    } else if (c.value == '\t' || ends_line(bytes.substr(at))) {
      cleaned.text += ' ';
    } else if (is_control(c.value)) {
      ++cleaned.controls;
      cleaned.text += kReplacement;
    } else {
      cleaned.text.append(bytes, at, c.length);
    }
    at += c.length;
  }
  return cleaned;
}

bool is_valid_utf8(std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size();) {
    if (byte_value(bytes[at]) < 0x80) {  // the common case
      ++at;
      continue;
    }
    const CodePoint c = decode_code_point(bytes.substr(at));
    if (!c.valid) return false;
    at += c.length;
  }
  return true;
}

std::string valid_text(std::string_view bytes) {
  std::string valid;
  while (!bytes.empty()) {
    const CodePoint point = decode_code_point(bytes);
    append_code_point(valid, point.value);
    bytes.remove_prefix(point.length);
  }
  return valid;
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    if (!c.valid) {
      out += kReplacement;
    } else if (is_control(c.value) || is_layout_control(c.value)) {
      out += fmt::format("\\u{{{:x}}}", static_cast<unsigned>(c.value));
    } else {
      out.append(text, at, c.length);
    }
    at += c.length;
  }
  return out;
}

int display_width(std::string_view text) {
  int width = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    width += width_of(c.value);
    at += c.length;
  }
  return width;
}

std::string truncate_to_width(std::string_view text, int columns) {
  if (columns <= 0) return {};
  if (prefix_length(text, columns) == text.size()) return std::string(text);
  std::string out(text.substr(0, prefix_length(text, columns - 1)));
  out += kEllipsis;
  return out;
}

namespace {

/// Replaces the middle of a text by "…" between characters if the text is too long.
std::string without_middle(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  const auto continues = [&](std::size_t at) {
    return at < text.size() && is_continuation_byte(text[at]);
  };
  std::size_t head = most / 2;
  while (head > 0 && continues(head)) --head;
  std::size_t tail = text.size() - most / 2;
  while (continues(tail)) ++tail;
  return std::string(text.substr(0, head)).append("…").append(text.substr(tail));
}

}  // namespace

std::string excerpt(std::string_view piece, int columns) {
  const std::size_t most_bytes = 4 * to_size(columns);  // no more bytes can be needed
  return truncate_to_width(printable(piece.substr(0, most_bytes)), columns);
}

std::string shorten_message(std::string_view message) {
  constexpr std::size_t kLongestWord = 300;
  constexpr std::size_t kLongestMessage = 4000;
  std::string result;
  for (std::size_t start = 0; start < message.size();) {
    const std::size_t end = std::min(message.find(' ', start), message.size());
    result += without_middle(message.substr(start, end - start), kLongestWord);
    if (end < message.size()) result += ' ';
    start = end + 1;
  }
  return without_middle(result, kLongestMessage);
}

}  // namespace attn
