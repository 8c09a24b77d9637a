// A step-by-step explanation for people, as CommonMark with tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/explanation.h"

namespace attn {

/// What explanation_text() says, cut in the same places. Formulas and sums are LaTeX between $$,
/// and matrices of at most 12 rows and 10 columns pmatrix, as GitHub and pandoc set them.
std::string explanation_markdown(const Explanation& explanation);

// Formulas as explanations write them, in LaTeX that Markdown leaves alone.

/// "Q_all = X · W_q + b_q" becomes "Q_{\text{all}} = X \cdot W_{q} + b_{q}": words are text, single
/// letters and what has an underscore are symbols, text in “ ” stays text. The result holds no
/// backslash before punctuation and no `$`, which Markdown would act upon. Nothing where the
/// formula holds a character that is no part of this notation.
std::optional<std::string> to_latex(std::string_view formula);

}  // namespace attn
