// What each head is worth, for people.
#pragma once

#include <string>

#include "record/head_importance.h"

namespace attn {

/// A table of at most `width` columns where it can, the head that is missed most first.
std::string head_importance_text(const HeadImportanceReport& report, int width);

}  // namespace attn
