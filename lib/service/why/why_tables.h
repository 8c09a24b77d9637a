// The results of lib/why that are matrices, as short tables for a terminal.
#pragma once

#include <vector>

#include "service/why/why.h"
#include "view/terminal/table.h"

namespace attn {

/// Returns the tables of an answer's logit lens, contributions, gradients and patching, with a row
/// per token of the words in question. Methods that were not requested have none. `top` is the
/// number of tokens that a row of contributions or gradients names.
std::vector<Table> why_tables(const WhyAnswer& answer, int top);

}  // namespace attn
