// What attention alone takes, as a table for programs.
#pragma once

#include <string>

#include "record/attention_cost.h"

namespace attn {

/// The measurements, a line each under a line of names.
std::string attention_costs_csv(const AttentionCosts& costs);

}  // namespace attn
