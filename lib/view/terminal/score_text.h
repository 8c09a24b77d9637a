// The scores of a test set for people.
#pragma once

#include <string>

#include "record/evaluation.h"

namespace attn {

/// A line of score and signature for each metric, then the parts of BLEU, and the comparison with
/// another system.
std::string score_text(const ScoreReport& report);

}  // namespace attn
