// The scores of a test set as JSON (docs/json.md).
#pragma once

#include "base/json.h"
#include "record/evaluation.h"

namespace attn {

/// One object with every number unrounded.
Json score_json(const ScoreReport& report);

}  // namespace attn
