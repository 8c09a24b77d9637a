// How what attention takes grows with the length.
#pragma once

#include <span>
#include <vector>

#include "record/attention_cost.h"

namespace attn {

/// Of at least one round: the middle one, of an even number the mean of the two in the middle.
double median(std::vector<double> rounds);

/// One a kind; empty where fewer than two lengths were measured.
std::vector<CostGrowth> cost_growth(std::span<const AttentionCost> measured);

}  // namespace attn
