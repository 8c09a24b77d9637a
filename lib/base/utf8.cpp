#include "base/utf8.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/unicode_width.h"

namespace attn {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::string_view kEllipsis = "\xE2\x80\xA6";

/// The allowed range of the second byte and the length of a sequence, by its first byte
/// (Unicode, table 3-7: this is where overlong forms and surrogates fall out).
struct Lead {
  std::size_t length = 0;  ///< 0 where no sequence begins with this byte
  unsigned char low = 0x80;
  unsigned char high = 0xBF;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {};
  if (byte < 0xE0) return {2};
  if (byte == 0xE0) return {3, 0xA0};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3};
  if (byte == 0xF0) return {4, 0x90};
  if (byte < 0xF4) return {4};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {};
}

bool is_control(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F);
}

/// Characters that reorder or break the text around them.
bool is_layout_control(char32_t c) {
  return c == 0x61C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069) || c == 0xFEFF;
}

template <std::size_t N>
bool in_ranges(const CodeRange (&ranges)[N], char32_t c) {
  const auto* found = std::upper_bound(std::begin(ranges), std::end(ranges), c,
                                       [](char32_t v, const CodeRange& r) { return v < r.first; });
  return found != std::begin(ranges) && c <= std::prev(found)->last;
}

int width_of(char32_t c) {
  if (c < 0x300) return 1;
  if (in_ranges(kZeroWidth, c)) return 0;
  return in_ranges(kWide, c) ? 2 : 1;
}

/// Bytes of `text` that fill at most `columns`, with the marks that combine with the last one.
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

}  // namespace

CodePoint decode_code_point(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const Lead lead = lead_of(byte(0));
  if (lead.length == 1) return {byte(0), 1, true};
  constexpr CodePoint kInvalid{0xFFFD, 1, false};
  if (lead.length == 0) return kInvalid;
  char32_t value = byte(0) & (0x7Fu >> lead.length);
  for (std::size_t i = 1; i < lead.length; ++i) {
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (i >= bytes.size() || byte(i) < low || byte(i) > high) return {0xFFFD, i, false};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  return {value, lead.length, true};
}

void append_code_point(std::string& out, char32_t value) {
  const auto put = [&out](char32_t byte) { out += static_cast<char>(byte); };
  if (value < 0x80) return put(value);
  if (value < 0x800) {
    put(0xC0 | (value >> 6));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12));
    put(0x80 | ((value >> 6) & 0x3F));
  } else {
    put(0xF0 | (value >> 18));
    put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F));
  }
  put(0x80 | (value & 0x3F));
}

CleanedText clean_text(std::string_view bytes) {
  CleanedText cleaned;
  cleaned.text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint c = decode_code_point(bytes.substr(at));
    if (!c.valid) {
      ++cleaned.invalid_bytes;
      cleaned.text += kReplacement;
    } else if (c.value == '\t') {
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
    if (static_cast<unsigned char>(bytes[at]) < 0x80) {  // most bytes of most files
      ++at;
      continue;
    }
    const CodePoint c = decode_code_point(bytes.substr(at));
    if (!c.valid) return false;
    at += c.length;
  }
  return true;
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

std::string fit_width(std::string_view text, int columns) {
  if (columns <= 0) return {};
  if (prefix_length(text, columns) == text.size()) return std::string(text);
  std::string out(text.substr(0, prefix_length(text, columns - 1)));
  out += kEllipsis;
  return out;
}

}  // namespace attn
