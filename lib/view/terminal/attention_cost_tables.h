// What attention alone takes, as tables for people.
#pragma once

#include <vector>

#include "record/attention_cost.h"
#include "view/terminal/table.h"

namespace attn {

/// A row a kind and length; and how they grow, where that is known.
std::vector<Table> attention_cost_tables(const AttentionCosts& costs);

}  // namespace attn
