// Gradients, integrated gradients and patching grids as JSON (docs/json.md describes the keys).
#pragma once

#include "base/json_writer.h"
#include "why/gradients.h"
#include "why/why.h"

namespace attn {

/// Writes {"steps":[…],"scores":[…],"source_dot":[step][token],…}.
void write_gradients(JsonWriter& json, const EmbeddingGradients& gradients);

/// Writes {"steps":[…],"points":[…],"source_dot":[step][token],…,"delta":[…],"difference":[…],
/// "gap":[…]}; a gap is null where the difference is 0.
void write_integrated_gradients(JsonWriter& json, const IntegratedGradients& gradients);

/// Writes {"clean":[id,…],"corrupt":[id,…],"corrupt_target":[id,…],"step":…,"word":…,"foil":…,
/// "positions":[[clean, corrupt],…],"clean_logit_diff":…,"corrupt_logit_diff":…,
/// "encoder":[layer][position],"decoder":[layer][position],"cross":[layer][head]}.
void write_patching(JsonWriter& json, const PatchingResult& patching);

}  // namespace attn
