// The faithfulness of answers to "why this word?", as JSON (docs/json.md).
#pragma once

#include <string>

#include "record/why_evaluation.h"

namespace attn {

/// Returns one object with every number unrounded.
std::string why_evaluation_json(const WhyEvaluation& report);

}  // namespace attn
