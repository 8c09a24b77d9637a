#include "markup/text_layout.h"

#include <algorithm>

namespace attn {
namespace {

/// Returns the length of the line end at the start of the text; 0 if there is none.
std::size_t line_end_length(std::string_view text) {
  if (text.starts_with("\r\n") || text.starts_with(kNextLine)) return 2;
  if (!text.empty() && text.front() >= '\n' && text.front() <= '\r') return 1;
  return text.starts_with("\u2028") || text.starts_with("\u2029") ? 3 : 0;
}

}  // namespace

std::size_t whitespace_length(std::string_view text) {
  if (text.empty()) return 0;
  if (is_ascii_space(text.front())) return 1;
  if (text.starts_with("\u00a0") || text.starts_with(kNextLine)) return 2;
  const bool wide = text.starts_with("\ufeff") || text.starts_with("\u3000") ||
                    text.starts_with("\u2028") || text.starts_with("\u2029");
  return wide ? 3 : 0;
}

std::size_t block_mark_length(std::string_view line) {
  constexpr std::size_t kMost = 6;  // the deepest heading
  if (line.empty() || !is_any_of(line.front(), "#>*+")) return 0;
  const bool one = line.front() == '*' || line.front() == '+';
  std::size_t end = std::min(line.find_first_not_of(line.front()), line.size());
  if (end > (one ? 1 : kMost)) return 0;
  const std::size_t mark = end;
  while (end < line.size() && line[end] == ' ') ++end;
  return end > mark && end < line.size() ? end : 0;
}

std::vector<LayoutLine> split_text(std::string_view text) {
  std::vector<LayoutLine> lines;
  std::size_t begin = 0;  // start of the whitespace before the line
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t space = whitespace_length(text.substr(at)); space > 0) {
      at += space;
      continue;
    }
    const std::size_t content = at;
    std::size_t end = at;  // end of the non-whitespace text
    while (at < text.size() && line_end_length(text.substr(at)) == 0) {
      const std::size_t space = whitespace_length(text.substr(at));
      at += space > 0 ? space : 1;
      if (space == 0) end = at;
    }
    lines.push_back({text.substr(begin, content - begin), text.substr(content, end - content), {}});
    begin = at = end;
  }
  if (lines.empty()) return {{text, text.substr(text.size()), {}}};
  lines.back().after = text.substr(begin);
  return lines;
}

}  // namespace attn
