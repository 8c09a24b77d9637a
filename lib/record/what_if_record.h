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
  HypothesisRecord replayed;
};

}  // namespace attn
