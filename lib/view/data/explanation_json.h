// A step-by-step explanation for programs (docs/json.md).
#pragma once

#include <string>

#include "record/explanation.h"

namespace attn {

/// One object on one line, every matrix whole; −∞ is null.
std::string explanation_json(const Explanation& explanation);

}  // namespace attn
