#include "view/terminal/status_line.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings/utf8.h"

namespace attn {

std::string fit_to_width(const std::vector<StatusPart>& parts, int columns) {
  int most = 0;
  for (const StatusPart& part : parts) most = std::max(most, part.rank);
  std::string line;
  for (; most >= 0; --most) {
    line.clear();
    for (const StatusPart& part : parts) {
      if (part.rank > most) continue;
      if (!line.empty()) line += " · ";
      line += part.text;
    }
    if (display_width(line) <= columns) return line;
  }
  return truncate_to_width(line, columns);
}

std::string format_duration(double seconds) {
  const auto s = static_cast<long>(seconds);
  if (s >= 3600) return fmt::format("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
  return fmt::format("{}:{:02}", s / 60, s % 60);
}

}  // namespace attn
