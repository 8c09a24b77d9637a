// The faithfulness of answers to "why this word?", as a table.
#pragma once

#include <string>

#include "record/why_evaluation.h"

namespace attn {

/// Renders a row per method, of at most `width` columns where possible, most faithful first.
std::string why_evaluation_text(const WhyEvaluation& report, int width);

}  // namespace attn
