// What linformer, performer and lsh have beside their weights, as JSON: docs/json.md describes the
// keys of `approximation`.
#pragma once

#include <string>

#include "record/attention_maps.h"

namespace attn {

/// {"type":"lsh",…} of maps that have an approximation.
void append_approximation(std::string& out, const AttentionMaps& maps);

}  // namespace attn
