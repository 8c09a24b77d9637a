// A line of a terminal while it is made.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// Text with the columns that it takes on a terminal: escape sequences take none.
struct TextLine {
  std::string text;
  int columns = 0;

  void add(std::string_view printable_text);
  void add_escape(std::string_view escape) { text += escape; }
  void add(const TextLine& line);
  /// Blanks up to `target` columns; nothing where the line is as long already.
  void pad_to(int target);
  /// The text without blanks at its end.
  std::string trimmed() const;
};

/// Words on lines of at most `columns` columns where they fit; each line ends with a newline. From
/// the second on, `indent` blanks stand before those columns.
std::string wrap_words(std::string_view text, int columns, int indent = 0);

}  // namespace attn
