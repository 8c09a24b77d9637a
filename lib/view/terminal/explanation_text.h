// A step-by-step explanation for people, on the terminal.
#pragma once

#include <string>

#include "record/explanation.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Steps with formula, shape, reason and matrices; no line is wider than the window, or than 40
/// columns in a narrower one. Matrices with more than 40 rows or columns are cut in the middle, and
/// say so.
std::string explanation_text(const Explanation& explanation, const TerminalStyle& style);

}  // namespace attn
