// How what attention takes grows with the length.
#pragma once

#include <span>
#include <vector>

#include "record/attention_cost.h"

namespace attn {

/// One a kind; empty where fewer than two lengths were measured.
std::vector<CostGrowth> cost_growth(std::span<const AttentionCost> measured);

}  // namespace attn
