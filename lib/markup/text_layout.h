// Lines of a text, so that each is translated by itself and all whitespace around it survives.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

/// One line. `before`, `content` and `after` follow each other in the text without gaps.
struct LayoutLine {
  std::string_view before;   ///< empty lines and indentation
  std::string_view content;  ///< without whitespace at its ends
  std::string_view after;  ///< only for the text's last line: the whitespace and line ends after it
};

/// Splits a text into its non-empty lines. Lines end with LF, CR LF, CR, or one of the separators
/// U+2028 and U+2029; spaces, tabs, U+00A0 and U+3000 around a line are whitespace. The parts of
/// the lines make up the whole text. A text of only whitespace is one line without content.
std::vector<LayoutLine> split_text(std::string_view text);

/// True for spaces, tabs and ASCII line ends.
constexpr bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// Returns the length of the whitespace character at the start of the text; 0 if there is none.
std::size_t whitespace_length(std::string_view text);

}  // namespace attn
