// The results of lib/why as JSON, format attn-demo.why version 1 (docs/json.md).
#pragma once

#include <string>

#include "why/why.h"

namespace attn {

/// Returns one JSON object on a line. Methods without a result have no key.
std::string why_json(const Why& why);

}  // namespace attn
