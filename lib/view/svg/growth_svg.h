// Time and memory against length, as a picture.
#pragma once

#include <string>
#include <vector>

namespace attn {

/// What one kind of attention took at several lengths; all of one size.
struct GrowthLine {
  std::string kind;
  std::vector<double> lengths;  ///< tokens
  std::vector<double> seconds;
  std::vector<double> bytes;
  std::string exponents;  ///< said behind the kind's name in the legend
};

/// Both with logarithmic axes, so that a power of the length is a straight line and its exponent
/// the slope. The first kind of a picture is drawn strongest, and kinds in `dashed` with dashes.
std::string growth_svg(const std::string& title, const std::vector<GrowthLine>& lines,
                       const std::vector<std::string>& dashed);

}  // namespace attn
