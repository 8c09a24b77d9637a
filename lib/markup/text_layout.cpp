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

/// Returns the length of the code fence at the start of a line; 0 if there is none.
std::size_t fence_length(std::string_view line) {
  if (line.empty() || !is_any_of(line.front(), "`~")) return 0;
  const std::size_t end = std::min(line.find_first_not_of(line.front()), line.size());
  const bool is_code = line.front() == '`' && line.find('`', end) != line.npos;  // ```x```
  return end < 3 || is_code ? 0 : end;
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
  std::size_t end = footnote_mark_length(line);
  if (end > 0) {
    if (end == line.size() || line[end++] != ':') return 0;
  } else {
    if (line.empty() || !is_any_of(line.front(), "#>*+")) return 0;
    const bool one = line.front() == '*' || line.front() == '+';
    end = std::min(line.find_first_not_of(line.front()), line.size());
    if (end > (one ? 1 : kMost)) return 0;
  }
  const std::size_t mark = end;
  while (end < line.size() && line[end] == ' ') ++end;
  return end > mark && end < line.size() ? end : 0;
}

std::size_t footnote_mark_length(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  if (!text.starts_with("[^")) return 0;
  const std::size_t end = text.substr(0, kLongest).find_first_of("[]^ \t\n", 2);
  return end != text.npos && end > 2 && text[end] == ']' ? end + 1 : 0;
}

std::vector<bool> fenced_lines(const std::vector<LayoutLine>& lines) {
  std::vector<bool> fenced(lines.size(), false);
  std::size_t unclosed[2] = {static_cast<std::size_t>(-1), static_cast<std::size_t>(-1)};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string_view open = lines[i].content;
    const std::size_t length = fence_length(open);
    if (length == 0) continue;
    std::size_t& shortest = unclosed[open.front() == '~' ? 1 : 0];  // no longer one is closed
    if (length >= shortest) continue;
    std::size_t end = i + 1;
    while (end < lines.size() &&
           (lines[end].content.size() < length ||
            lines[end].content.find_first_not_of(open.front()) != std::string_view::npos)) {
      ++end;
    }
    if (end == lines.size()) {
      shortest = length;
      continue;
    }
    std::fill(fenced.begin() + static_cast<std::ptrdiff_t>(i),
              fenced.begin() + static_cast<std::ptrdiff_t>(end + 1), true);
    i = end;
  }
  return fenced;
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
