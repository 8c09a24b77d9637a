// A step-by-step explanation for people, as CommonMark with tables.
#pragma once

#include <string>

#include "record/explanation.h"

namespace attn {

/// What explanation_text() says, cut in the same places. Formulas and sums are LaTeX between $$,
/// and matrices of at most 12 rows and 10 columns pmatrix, as GitHub and pandoc set them.
std::string explanation_markdown(const Explanation& explanation);

}  // namespace attn
