// Pairs of sentences for evaluate --head-importance.
#pragma once

#include <string>
#include <vector>

#include "service/model/open_model.h"
#include "translate/head_importance.h"

namespace attn {

/// Source and target lines of one length as id pairs that fit the model. Pairs with an empty side
/// or more tokens than positions are left out, which `note` says; empty where all fit. InputError
/// where none is left.
std::vector<ReferencePair> make_scored_pairs(const ReadyModel& model,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target, std::string& note);

}  // namespace attn
