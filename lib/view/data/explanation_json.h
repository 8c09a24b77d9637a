// A step-by-step explanation for programs (docs/json.md).
#pragma once

#include <string>

#include "record/explanation.h"

namespace attn {

/// Returns one object on one line with every matrix in full; −∞ becomes null.
std::string explanation_json(const Explanation& explanation);

}  // namespace attn
