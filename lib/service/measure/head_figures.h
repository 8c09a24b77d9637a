// The figures of every head over a file of sentence pairs, for evaluate --report.
#pragma once

#include <string>
#include <vector>

#include "record/head_report.h"
#include "service/model/open_model.h"

namespace attn {

/// Shows the model each pair (the target is read, not searched for) and adds up what its heads do;
/// `gold` names a file of word alignments, one line a pair, to compare with; empty: none. A pair
/// that is empty or longer than the model's positions is left out; `note` says how many, where
/// there are any. InputError where `gold` has other lines than there are pairs, or names words that
/// they lack.
HeadReport measure_heads(const ReadyModel& model, const std::vector<std::string>& source,
                        const std::vector<std::string>& target, const std::string& gold,
                        std::string& note);

}  // namespace attn
