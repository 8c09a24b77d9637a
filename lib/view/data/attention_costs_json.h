// What attention alone takes, as JSON for programs (docs/json.md).
#pragma once

#include "base/json.h"
#include "record/attention_cost.h"

namespace attn {

/// {"attention":[…],"growth":[…]}; backward_seconds is null where only one way was measured.
Json attention_costs_json(const AttentionCosts& costs);

}  // namespace attn
