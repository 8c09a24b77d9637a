// evaluate --head-importance: which heads the references miss most.
#pragma once

#include <string>
#include <vector>

#include "base/json.h"
#include "model_source.h"
#include "translate/head_importance.h"

namespace attn {

/// Source and target lines of one length as id pairs that fit the model. Pairs with an empty side
/// or more tokens than positions are left out and noted. InputError where none is left.
std::vector<ScoredPair> scored_pairs(const ReadyModel& model,
                                     const std::vector<std::string>& source,
                                     const std::vector<std::string>& target);

/// A table, the head that is missed most first.
std::string importance_text(const ImportanceReport& report, std::size_t pairs, int width);

/// Every number unrounded.
Json importance_json(const ImportanceReport& report, std::size_t pairs);

}  // namespace attn
