// What each head is worth, for programs.
#pragma once

#include "base/json.h"
#include "record/head_importance.h"

namespace attn {

/// Every number unrounded.
Json head_importance_json(const HeadImportanceReport& report);

}  // namespace attn
