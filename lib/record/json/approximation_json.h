// What linformer, performer and lsh have beside their weights, as JSON: docs/json.md describes the
// keys of `approximation`.
#pragma once

#include "base/json_writer.h"
#include "record/attention_maps.h"

namespace attn {

/// {"type":"lsh",…} of maps that have an approximation. `packed`: matrices as text, and of mixtures
/// only how many they are, for their weights are the maps.
void write_approximation(JsonWriter& json, const AttentionMaps& maps, bool packed);

}  // namespace attn
