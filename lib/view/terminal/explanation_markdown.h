// A step-by-step explanation for people, as CommonMark with tables.
#pragma once

#include <string>

#include "record/explanation.h"

namespace attn {

/// What explanation_text() says, cut in the same places.
std::string explanation_markdown(const Explanation& explanation);

}  // namespace attn
