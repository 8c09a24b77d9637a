// The metrics of every head as JSON.
#pragma once

#include <string>

#include "base/json.h"
#include "record/evaluation.h"
#include "record/head_report.h"

namespace attn {

/// Returns one JSON object on one line, including the newline; docs/reading-heads.md describes the
/// keys. Numbers are the shortest decimals that read back to the same float; undefined metrics are
/// null.
std::string head_report_json(const HeadReport& report);

// The importance of each head, for programs.

/// Returns every number unrounded.
Json head_importance_json(const HeadImportanceReport& report);

// The scores of a test set as JSON (docs/json.md).

/// Returns one object with every number unrounded.
Json score_json(const ScoreReport& report);

}  // namespace attn
