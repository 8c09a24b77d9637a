// T5's rows of the table of families (family.h), and the keys that no other class has: d_kv,
// relative positions, the feed-forward's form, the output's scale. InputError for buckets that are
// odd or fewer than 4, and for a greatest distance within the buckets that hold one distance each.
#pragma once

#include "config/family.h"

namespace attn {

/// Raffel et al. 2020; with a gate also v1.1, FLAN-T5 and MADLAD-400.
ModelFamily t5_family();
/// The same, gated, and its output never scaled.
ModelFamily mt5_family();
/// mT5 with a table of relative positions in every layer, and T5's scale of the output.
ModelFamily umt5_family();

}  // namespace attn
