// The figures of every head as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "record/evaluation.h"
#include "record/head_report.h"

namespace attn {

/// One JSON object on one line, newline included (docs/reading-heads.md says what each key holds).
/// Numbers are the shortest decimals that read back to the same float; what nothing defines is
/// null.
std::string head_report_json(const HeadReport& report);

// What each head is worth, for programs.

/// Every number unrounded.
Json head_importance_json(const HeadImportanceReport& report);

// The scores of a test set as JSON (docs/json.md).

/// One object with every number unrounded.
Json score_json(const ScoreReport& report);

}  // namespace attn
