// The head that explain opens, as --kind, --layer and --head name it together.
#pragma once

#include <string>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/explanation.h"
#include "record/head_report.h"

namespace attn {

/// `head` is a number, "best", or a whole name (config/attention_site.h), which then says kind and
/// layer itself. Empty is not given. UsageError naming the option; a mean is no head to explain.
HeadName parse_head_options(const std::string& kind, const std::string& layer,
                            const std::string& head);

/// Whether --head says kind and layer, too.
bool is_full_head_name(const std::string& head);

/// UsageError where the model has no such layer or head; `whole` as is_full_head_name() says.
void check_head_options(const HeadName& name, bool whole, const ModelSummary& model);

/// Where no head is named: of cross-attention the one that aligns this hypothesis best
/// (resolve_best), of self-attention, which aligns nothing, the first, each of the named layer or
/// else of the last.
HeadIndex find_explained_head(HeadName name, const AttentionRecord& record, std::size_t hypothesis);

// --step: which steps of an explanation a person reads.

/// Steps as they are counted, from 1: both ends belong to it.
struct StepRange {
  int first = 1;
  int last = 1;
};

/// Reads "5", "5-8", "1,7-9"; nothing where `text` is empty. UsageError naming what is none of
/// these.
std::vector<StepRange> parse_steps(const std::string& text);

/// The explanation with these steps alone, which keep their numbers; with all where there are no
/// ranges. UsageError where one names a step that is not there.
Explanation select_steps(Explanation explanation, const std::vector<StepRange>& ranges);

}  // namespace attn
