// The metrics of every head as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "record/evaluation.h"
#include "record/head_report.h"

namespace attn {

/// Renders one table per attention site, one row per head. The heads that align best are marked,
/// and named below with an explanation of each column. Lines have at most `width` columns (at least
/// 40) where possible. `notes` are appended.
std::string render_head_report(const HeadReport& report, int width = 80,
                               const std::vector<std::string>& notes = {});

/// Renders the metrics before and after an experiment, two rows per head. Only heads whose printed
/// metrics differ are shown; the others are counted. Both reports must be of the same model and
/// sentences.
std::string render_head_changes(const HeadReport& before, const HeadReport& after, int width = 80);

// The importance of each head, for people.

/// Renders a table of at most `width` columns where possible, most important head first.
std::string head_importance_text(const HeadImportanceReport& report, int width);

// The scores of a test set, for people.

/// Returns one line of score and signature per metric, then the components of BLEU, and the
/// comparison with another system.
std::string score_text(const ScoreReport& report);

}  // namespace attn
