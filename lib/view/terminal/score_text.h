// The scores of a test set for people.
#pragma once

#include <string>

#include "record/score_report.h"

namespace attn {

/// Two lines of score and signature, then the parts of BLEU.
std::string score_text(const ScoreReport& report);

}  // namespace attn
