// Time and memory against length, as a picture.
#pragma once

#include <string>
#include <vector>

#include "record/attention_cost.h"

namespace attn {

/// What one kind of attention took at several lengths; all of one size.
struct CostGrowthLine {
  CostCurve curve;
  std::string exponents;  ///< said behind the kind's name in the legend
};

/// Both with logarithmic axes, so that a power of the length is a straight line and its exponent
/// the slope. The first kind of a picture is drawn strongest, and approximations with dashes.
std::string cost_growth_svg(const std::string& title, const std::vector<CostGrowthLine>& lines);

}  // namespace attn
