// A line of figures that drops what a narrow window has no room for.
#pragma once

#include <string>
#include <vector>

namespace attn {

/// A piece of the line. Where the window is narrow, those of the highest rank go first.
struct StatusPart {
  std::string text;
  int rank;
};

/// The pieces that fit into so many columns, with " · " between them.
std::string fit_to_width(const std::vector<StatusPart>& parts, int columns);

/// "1:05" or "2:03:04".
std::string format_duration(double seconds);

}  // namespace attn
