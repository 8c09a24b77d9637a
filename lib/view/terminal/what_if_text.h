// The result of a what-if experiment, for people.
#pragma once

#include <string>

#include "record/attention_record.h"
#include "view/terminal/styled_text.h"

namespace attn {

/// Returns both translations, then each token of the first with its log-probability before and
/// after and the change. Maps are drawn by render_maps().
std::string what_if_text(const WhatIfRecord& record, const TerminalStyle& style,
                         bool align_weights = false);

}  // namespace attn
