// Formulas as explanations write them, in LaTeX that Markdown leaves alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace attn {

/// "Q_all = X · W_q + b_q" becomes "Q_{\text{all}} = X \cdot W_{q} + b_{q}": words are text, single
/// letters and what has an underscore are symbols, text in “ ” stays text. The result holds no
/// backslash before punctuation and no `$`, which Markdown would act upon. Nothing where the
/// formula holds a character that is no part of this notation.
std::optional<std::string> to_latex(std::string_view formula);

}  // namespace attn
