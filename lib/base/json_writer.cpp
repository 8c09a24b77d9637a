#include "base/json_writer.h"

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <utility>

#include "base/strings/utf8.h"

namespace attn {
namespace {

void append_escape(std::string& out, unsigned code_point) {
  fmt::format_to(std::back_inserter(out), "\\u{:04x}", code_point);
}

/// Returns the code point at the start of `rest` and its length in bytes if it must be escaped;
/// otherwise {0, 0}.
std::pair<unsigned, std::size_t> code_point_to_escape(std::string_view rest) {
  const auto byte = [&](std::size_t i) { return byte_value(rest[i]); };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return {byte(0), 1};
  if (byte(0) == 0xc2 && rest.size() > 1 && byte(1) < 0xa0) return {byte(1), 2};  // C1 controls
  if (byte(0) == 0xe2 && rest.size() > 2 && byte(1) == 0x80 && (byte(2) | 1u) == 0xa9) {
    return {0x2000u + (byte(2) & 0x3fu), 3};  // U+2028 and U+2029 end a line in old JavaScript
  }
  return {0, 0};
}

char short_escape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

}  // namespace

void append_number(std::string& out, float value) {
  if (!std::isfinite(value)) throw std::logic_error("JSON has no NaN and no infinity");
  char digits[32];
  const auto result = std::to_chars(std::begin(digits), std::end(digits), value);
  out.append(digits, result.ptr);
}

void append_string(std::string& out, std::string_view text) {
  if (!is_valid_utf8(text)) return append_string(out, valid_text(text));
  out += '"';
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size();) {
    const char escape = short_escape(text[i]);
    const auto [code_point, bytes] =
        escape != 0 ? std::pair<unsigned, std::size_t>{0, 1} : code_point_to_escape(text.substr(i));
    if (bytes == 0) {
      ++i;
      continue;
    }
    out.append(text, copied, i - copied);
    if (escape != 0) {
      out += '\\';
      out += escape;
    } else {
      append_escape(out, code_point);
    }
    i += bytes;
    copied = i;
  }
  out.append(text, copied);
  out += '"';
}

void JsonWriter::floats(std::span<const float> values) {
  array([&] {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out_ += ',';
      append_number(out_, values[i]);
    }
  });
}

}  // namespace attn
