// The figures of every head as text for a terminal.
#pragma once

#include <string>
#include <vector>

#include "record/evaluation.h"
#include "record/head_report.h"

namespace attn {

/// A table a kind of attention, a row a head; the heads that align best are marked and named below,
/// with what each column says. At most `width` columns where it can (at least 40).
/// `notes` are said at the end.
std::string render_head_report(const HeadReport& report, int width = 80,
                               const std::vector<std::string>& notes = {});

/// The figures before an experiment and after it, two rows a head: those that differ in what is
/// printed; how many do not is said. Of the same model and sentences.
std::string render_head_changes(const HeadReport& before, const HeadReport& after, int width = 80);

// What each head is worth, for people.

/// A table of at most `width` columns where it can, the head that is missed most first.
std::string head_importance_text(const HeadImportanceReport& report, int width);

// The scores of a test set for people.

/// A line of score and signature for each metric, then the parts of BLEU, and the comparison with
/// another system.
std::string score_text(const ScoreReport& report);

}  // namespace attn
