// An experiment for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "record/what_if_record.h"
#include "view/terminal/terminal.h"

namespace attn {

/// Both translations, then each token of the first with its log-probability before and after and
/// the change. Maps are drawn by render_maps().
std::string what_if_text(const WhatIfRecord& record, const TerminalStyle& style);

/// The experiment as two records, for the page: before and after. Where the change gave another
/// translation, the first one, scored and watched under the change, joins those of `after`, so that
/// the maps of one translation can be compared.
std::vector<AttentionRecord> what_if_records(const WhatIfRecord& record);

/// {"format": "attn-demo.what_if", …} on one line (docs/json.md).
std::string what_if_json(const WhatIfRecord& record);

}  // namespace attn
