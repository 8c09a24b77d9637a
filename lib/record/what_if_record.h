// An experiment on one sentence: the model as it is, and with something changed.
#pragma once

#include <string>
#include <vector>

#include "record/attention_record.h"

namespace attn {

struct WhatIfRecord {
  AttentionRecord before;  ///< the translation as it is, with its maps
  AttentionRecord after;   ///< the translation under its `changes`, with its maps
  /// The translation of `before` under the change: how likely each of its tokens is now, and where
  /// it looks.
  HypothesisRecord teacher_forced;
};

/// The experiment as two records: before and after. Where the change gave another translation, the
/// first one, scored and watched under the change, joins those of `after`, so that the maps of one
/// translation can be compared.
std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record);

}  // namespace attn
