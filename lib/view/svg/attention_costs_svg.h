// What attention alone takes, as a picture.
#pragma once

#include <string>

#include "record/attention_cost.h"

namespace attn {

/// Time and memory against length, a line a kind (cost_growth_svg.h); exponents where they are known.
/// Something was measured.
std::string attention_costs_svg(const AttentionCosts& costs);

}  // namespace attn
