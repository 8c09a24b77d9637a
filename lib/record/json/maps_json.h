// What a pattern left of maps, as JSON: docs/json.md describes the keys of `seen`.
#pragma once

#include "base/json_writer.h"
#include "record/attention_maps.h"

namespace attn {

/// {"reasons":[…],"patterns":[…],"of":[…],…} of maps that have a pattern; of large ones with the
/// computed cells, where `cells` says so.
void write_pattern(JsonWriter& json, const AttentionMaps& maps, bool cells);

}  // namespace attn
