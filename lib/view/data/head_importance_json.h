// What each head is worth, for programs.
#pragma once

#include "base/json.h"
#include "record/head_importance.h"

namespace attn {

/// Every number unrounded.
Json importance_json(const ImportanceReport& report);

}  // namespace attn
