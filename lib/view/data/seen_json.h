// What a pattern left of maps, as JSON: docs/json.md describes the keys of `seen`.
#pragma once

#include <string>

#include "record/attention_maps.h"

namespace attn {

/// {"reasons":[…],"patterns":[…],"of":[…],…} of maps that have a pattern.
void append_seen(std::string& out, const AttentionMaps& maps);

}  // namespace attn
