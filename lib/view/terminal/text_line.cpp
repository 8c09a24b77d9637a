#include "view/terminal/text_line.h"

#include <algorithm>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {

void TextLine::add(std::string_view printable_text) {
  text += printable_text;
  columns += display_width(printable_text);
}

void TextLine::add(const TextLine& line) {
  text += line.text;
  columns += line.columns;
}

void TextLine::pad_to(int target) {
  if (columns >= target) return;
  text.append(to_size(target - columns), ' ');
  columns = target;
}

std::string TextLine::trimmed() const {
  return text.substr(0, text.find_last_not_of(' ') + 1);
}

std::string wrap_words(std::string_view text, int columns, int indent) {
  std::string out;
  int used = 0;
  while (!text.empty()) {
    const std::size_t blank = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, blank);
    const int word_columns = display_width(word);
    if (used > 0) {
      const bool fits = used + 1 + word_columns <= columns;
      out += fits ? " " : "\n" + std::string(to_size(indent), ' ');
      used = fits ? used + 1 : 0;
    }
    out += word;
    used += word_columns;
    text.remove_prefix(std::min(blank + 1, text.size()));
  }
  return out + '\n';
}

}  // namespace attn
