// --step: which steps of an explanation a person reads.
#pragma once

#include <string>
#include <vector>

#include "record/explanation.h"

namespace attn {

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
