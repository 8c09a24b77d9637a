// Scores of translations against references, and of two systems against each other.
#pragma once

#include <string>
#include <vector>

#include "metrics/bleu.h"
#include "record/evaluation.h"

namespace attn {

struct ScoreSettings {
  bool lowercase = false;  ///< BLEU, chrF2 and chrF2++; TER never looks at case
  BleuTokenizer tokenizer = BleuTokenizer::v13a;
  Resampling resampling;  ///< where there is another system
};

/// Translations and what they are compared with, one line a sentence in each list.
struct ScoringInput {
  const std::vector<std::string>& hypotheses;
  const std::vector<std::vector<std::string>>& references;
  const std::vector<std::string>* against = nullptr;  ///< another system's; null: there is none
};

/// Fills in the scores, and where there is another system the paired bootstrap (but for its file's
/// name).
void compute_scores(ScoreReport& report, const ScoringInput& system, const ScoreSettings& settings);

}  // namespace attn
