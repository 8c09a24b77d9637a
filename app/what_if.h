// An experiment as translate and serve run it.
#pragma once

#include <optional>
#include <string>

#include "commands/what_if_options.h"
#include "translate/translator.h"

namespace attn {

/// The sentence as it is, and with its words swapped; where there is a target it is scored instead
/// of searching.
struct ExperimentSentences {
  PreparedSentence before;
  PreparedSentence after;
  std::optional<std::string> target = std::nullopt;
};

/// Translates or scores both, `after` with what the options change. `changes` are the options' for
/// the model; what only the sentence knows (words that --force names, the best head) is put into
/// them here. `after` of the result has its changes described.
WhatIfRecord run_experiment(const Translator& translator, const WhatIfOptions& options,
                            const ExperimentSentences& sentences, const RecordDetail& detail,
                            Changes& changes);

}  // namespace attn
