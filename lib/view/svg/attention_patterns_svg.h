// Time and memory against length, as a picture.
#pragma once

#include <string>
#include <vector>

#include "record/attention_cost.h"
#include "record/receptive_field.h"

namespace attn {

/// The measured cost of one kind of attention at several lengths, all at the same model size.
struct CostGrowthLine {
  CostCurve curve;
  std::string exponents;  ///< printed after the kind's name in the legend
};

/// Draws time and memory with logarithmic axes, so that a power of the length is a straight line
/// whose slope is the exponent. The first kind is drawn most prominently, approximations with
/// dashes.
std::string cost_growth_svg(const std::string& title, const std::vector<CostGrowthLine>& lines);

// The measured costs of attention alone, as a picture.

/// Draws time and memory against length, one line per kind, with exponents where they are known. At
/// least one measurement is required.
std::string attention_costs_svg(const AttentionCosts& costs);

// The receptive field of tokens, as a picture.

/// Maximum number of blocks along one side of the picture.
inline constexpr int max_receptive_svg_blocks = 256;

/// Returns the whole SVG file. Rows are the tokens that see, columns the tokens that are seen; a
/// cell is darker the earlier the layer. `model` names the model in a small line of text.
std::string receptive_field_svg(const ReceptiveField& field, const std::string& model);

}  // namespace attn
