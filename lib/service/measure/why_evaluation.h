// Measures on a test set which answers to "why this word?" are faithful, for evaluate --why.
#pragma once

#include <string>
#include <vector>

#include "record/why_evaluation.h"
#include "service/model/open_model.h"

namespace attn {

/// Pairs of sentences, one line each, and a file of word alignments; empty: none.
struct WhyEvaluationInput {
  const std::vector<std::string>& source;
  const std::vector<std::string>& target;
  const std::string& gold;
};

/// Each method names a source word for every written word of the pairs (the target is read, not
/// searched for). That word is compared with gold, and taken away from the source to see how far
/// the written word's log-probability falls. Pairs that are empty or longer than the model's
/// positions are left out; `note` says how many, if any. Integrated gradients cost so much that
/// they are measured on the first pairs only. Throws InputError for gold that does not fit the
/// pairs, or if no pair is left.
WhyEvaluation evaluate_why(const ReadyModel& model, const WhyEvaluationInput& input,
                           std::string& note);

}  // namespace attn
