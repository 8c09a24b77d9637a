// Cleaning of outside text (valid UTF-8, no control characters), and UTF-8 helpers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct CleanedText {
  std::string text;  ///< valid UTF-8 without C0/C1 controls (a tab or line end becomes a space)
  std::size_t invalid_bytes = 0;  ///< number of maximal invalid sequences replaced by U+FFFD
  std::size_t controls = 0;       ///< number of control characters replaced by U+FFFD
};

/// Replaces every maximal invalid UTF-8 sequence and every control character by U+FFFD, except that
/// tabs and line ends become spaces. Follows Unicode's recommended practice: overlong forms,
/// surrogates and code points above U+10FFFF are invalid.
CleanedText clean_text(std::string_view bytes);

/// Returns a byte of text as a number from 0 to 255, whether or not `char` is signed.
constexpr unsigned char byte_value(char c) {
  return static_cast<unsigned char>(c);
}

/// True if the byte continues a multi-byte character (10xxxxxx).
constexpr bool is_continuation_byte(char c) {
  return (byte_value(c) & 0xC0U) == 0x80U;
}

bool is_valid_utf8(std::string_view bytes);

/// The character at the start of a non-empty text. If the bytes are invalid, `value` is U+FFFD and
/// `length` is the length of the maximal invalid sequence.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  ///< in bytes
  bool valid = true;
};
CodePoint decode_code_point(std::string_view bytes);

/// Appends a code point (not a surrogate, at most U+10FFFF) as UTF-8.
void append_code_point(std::string& out, char32_t value);

/// Replaces every maximal invalid sequence by U+FFFD and keeps everything else.
std::string valid_text(std::string_view bytes);

/// Makes text safe for a terminal or a message: control characters, escapes, bidirectional controls
/// and line separators are shown as \u{1b} and so on; invalid bytes become U+FFFD.
std::string printable(std::string_view text);

/// Returns the number of terminal columns of a printable text (wide East Asian characters and emoji
/// count 2, combining characters 0).
int display_width(std::string_view text);

/// Returns the longest prefix of at most `columns` columns. If anything was cut, it ends in `…`.
std::string truncate_to_width(std::string_view text, int columns);

/// Splits a text into lines without their ends (\n or \r\n). The last line needs no line end, and a
/// final line end does not start another line. The results are views into `text`.
inline std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    begin = end + 1;
  }
  return lines;
}

// ASCII lower case is for protocols and file formats. For natural language, use ICU
// (text/sentence_splitter.cpp).

/// Lower-cases A to Z regardless of the locale; all other bytes stay the same.
inline std::string ascii_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

/// Quotes a part of a file or argument in a message: printable, and cut to `columns` columns,
/// because outside input can be arbitrarily long.
std::string excerpt(std::string_view piece, int columns = 60);

/// Shortens a valid UTF-8 message: the middle of every word of more than 300 bytes is replaced by
/// "…", then the middle of a message that is still longer than 4,000 bytes.
std::string shorten_message(std::string_view message);

}  // namespace attn
