// Text from outside: made valid UTF-8 without control characters before anything else sees it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

struct CleanedText {
  std::string text;  ///< valid UTF-8 without C0/C1 controls (a tab or line's end becomes a blank)
  std::size_t invalid_bytes = 0;  ///< maximal invalid sequences replaced by U+FFFD
  std::size_t controls = 0;       ///< control characters replaced by U+FFFD
};

/// Replaces every maximal invalid UTF-8 sequence (Unicode's recommended practice; overlong forms,
/// surrogates and code points above U+10FFFF are invalid) and every control character but tabs
/// and ends of lines, which become blanks.
CleanedText clean_text(std::string_view bytes);

/// A byte of text as a number from 0 to 255, whatever the sign of `char`.
constexpr unsigned char byte_value(char c) {
  return static_cast<unsigned char>(c);
}

/// Whether the byte goes on with a character that an earlier one began (10xxxxxx).
constexpr bool is_continuation_byte(char c) {
  return (byte_value(c) & 0xC0U) == 0x80U;
}

bool is_valid_utf8(std::string_view bytes);

/// The character at the start of a non-empty text. Where the bytes are invalid, `value` is U+FFFD
/// and `length` that of the maximal invalid sequence.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;  ///< bytes
  bool valid = true;
};
CodePoint decode_code_point(std::string_view bytes);

/// Appends a code point (no surrogate, at most U+10FFFF) as UTF-8.
void append_code_point(std::string& out, char32_t value);

/// Every maximal invalid sequence becomes U+FFFD; all else stays.
std::string valid_text(std::string_view bytes);

/// For a terminal or a message: controls, escapes, bidirectional marks and line separators made
/// visible as \u{1b} and so on; invalid bytes become U+FFFD.
std::string printable(std::string_view text);

/// Columns that a terminal gives to a printable text (wide East Asian and emoji 2, combining 0).
int display_width(std::string_view text);

/// The longest prefix of at most `columns` columns; `…` ends it where something was cut.
std::string truncate_to_width(std::string_view text, int columns);

// Text files are lines.

/// The lines of a text without their ends (\n or \r\n). The last one needs no end, and after a
/// final end there is no further line. Views into `text`.
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

// Small letters of protocols and formats; those of languages are ICU's
// (text/sentence_splitter.cpp).

/// A to Z become a to z, whatever the locale; all other bytes stay.
inline std::string ascii_lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small;
}

// What came in, quoted in a message, and messages with long names: for a person.

/// A piece of a file or of an argument for a message: printable, and cut to so many columns,
/// because it may be as long as whoever wrote it wanted.
std::string excerpt(std::string_view piece, int columns = 60);

/// A valid UTF-8 message in which words of more than 300 bytes, and what is then still longer than
/// 4,000 bytes, lose their middle to "…".
std::string shorten_message(std::string_view message);

}  // namespace attn
