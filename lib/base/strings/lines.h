// Text files are lines.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace attn {

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

}  // namespace attn
