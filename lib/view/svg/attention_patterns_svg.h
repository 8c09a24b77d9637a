// Time and memory against length, as a picture.
#pragma once

#include <string>
#include <vector>

#include "record/attention_cost.h"
#include "record/receptive_field.h"

namespace attn {

/// What one kind of attention took at several lengths; all of one size.
struct CostGrowthLine {
  CostCurve curve;
  std::string exponents;  ///< said behind the kind's name in the legend
};

/// Both with logarithmic axes, so that a power of the length is a straight line and its exponent
/// the slope. The first kind of a picture is drawn strongest, and approximations with dashes.
std::string cost_growth_svg(const std::string& title, const std::vector<CostGrowthLine>& lines);

// What attention alone takes, as a picture.

/// Time and memory against length, a line a kind (cost_growth_svg.h); exponents where they are
/// known. Something was measured.
std::string attention_costs_svg(const AttentionCosts& costs);

// How far a token sees, as a picture.

/// Blocks of a picture's side, at most.
inline constexpr int max_receptive_svg_blocks = 256;

/// The whole file: rows see, columns are seen, the darker the earlier. `model` is a quiet line on
/// whose layers they are.
std::string receptive_field_svg(const ReceptiveField& field, const std::string& model);

}  // namespace attn
