// Beam search for a translation that contains given terms: dynamic beam allocation (Post and Vilar
// 2018, "Fast Lexically Constrained Decoding with Dynamic Beam Allocation").
#pragma once

#include <memory>
#include <span>

#include "translate/search/continuous_batch.h"

namespace attn {

/// Returns the fewest tokens that must follow `ids` until every term is in them; 0 if all are.
int missing_term_tokens(const SentenceTerms& terms, std::span<const int> ids);

/// A source and the terms of its translation.
struct TermSource {
  std::span<const int> ids;
  const SentenceTerms& terms;  ///< must outlive the search
};

/// Searches with the beams of `rules`. Hypotheses are grouped by how many tokens their terms still
/// lack, and each group gets a share of the beams, so that those with a term do not lose to those
/// without. Only a hypothesis with all terms may end, and none continues that could not complete
/// its terms in `max_generated_tokens`. If no translation can contain all terms, for example
/// because their tokens are forbidden, the result lacks some.
std::unique_ptr<SentenceSearch> term_search(const SearchRules& rules, const TermSource& source,
                                            Index max_generated_tokens,
                                            const BeamTrace& traced = {});

}  // namespace attn
