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

/// U+0085, which ends a line in text from mainframes.
inline constexpr std::string_view kNextLine = "\xc2\x85";

/// Splits a text into its non-empty lines. Lines end with LF, CR LF, CR, a vertical tab, a form
/// feed, U+0085, or one of the separators U+2028 and U+2029; spaces, tabs, U+00A0 and U+3000 around
/// a line are whitespace. The parts of the lines make up the whole text. A text of only whitespace
/// is one line without content.
std::vector<LayoutLine> split_text(std::string_view text);

/// Returns for each line whether it is fenced code of Markdown: a line that begins with at least
/// three backticks or tildes, and all lines up to one with as many of them and nothing else. A
/// fence that is not closed is text. Takes linear time.
std::vector<bool> fenced_lines(const std::vector<LayoutLine>& lines);

/// True for spaces, tabs and ASCII line ends.
constexpr bool is_ascii_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

constexpr bool is_ascii_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

constexpr bool is_any_of(char c, std::string_view characters) {
  return characters.find(c) != characters.npos;
}

/// Returns the length of the mark of a block of Markdown, with its spaces, at the start of a line:
/// "## ", "> ", "* ", "+ " or "[^1]: "; 0 if there is none. "- " is a dash, too, which a model
/// reads.
std::size_t block_mark_length(std::string_view line);

/// Returns the length of the footnote mark of Markdown, "[^1]", at the start of the text; 0 if
/// there is none.
std::size_t footnote_mark_length(std::string_view text);

/// Returns the length of the whitespace character at the start of the text; 0 if there is none.
std::size_t whitespace_length(std::string_view text);

}  // namespace attn
