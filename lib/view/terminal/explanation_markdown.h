// A step-by-step explanation for people, as CommonMark with tables.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "record/explanation.h"

namespace attn {

/// Returns the contents of explanation_text(), cut at the same rows and columns. Formulas and sums
/// are LaTeX between $$; matrices of at most 12 rows and 10 columns are pmatrix, as GitHub and
/// pandoc render them.
std::string explanation_markdown(const Explanation& explanation);

// Converts the formulas of explanations to LaTeX that Markdown leaves unchanged.

/// Converts "Q_all = X · W_q + b_q" to "Q_{\text{all}} = X \cdot W_{q} + b_{q}": words are text,
/// single letters and names with an underscore are symbols, text in “ ” stays text. The result
/// contains no backslash before punctuation and no `$`, which Markdown would interpret. Returns
/// nullopt if the formula contains a character that is not part of this notation.
std::optional<std::string> to_latex(std::string_view formula);

}  // namespace attn
