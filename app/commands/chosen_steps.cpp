#include "commands/chosen_steps.h"

#include <algorithm>

#include "base/at.h"
#include "base/error.h"
#include "config/attention_site.h"
#include "base/strings/excerpt.h"

namespace attn {

std::vector<StepRange> parse_steps(const std::string& text) {
  std::vector<StepRange> ranges;
  if (text.empty()) return ranges;
  for (const std::string_view part : split_at(text, ',')) {
    const std::vector<std::string_view> ends = split_at(part, '-');
    const std::optional<int> first = parse_index(ends.front());
    const std::optional<int> last = parse_index(ends.back());
    if (ends.size() > 2 || !first || !last || *first < 1 || *last < *first) {
      throw UsageError("{}: expected a step, a range or several of them, as in 5-8 or 1,7-9",
                       excerpt(text));
    }
    ranges.push_back({*first, *last});
  }
  return ranges;
}

Explanation select_steps(Explanation explanation, const std::vector<StepRange>& ranges) {
  if (ranges.empty()) return explanation;
  int last = 0;
  for (ExplanationStep& step : explanation.steps) {
    if (step.number == 0) step.number = last + 1;
    last = step.number;
  }
  for (const StepRange& range : ranges) {
    if (range.last > last) {
      throw UsageError("{}: the explanation has steps 1 to {}", range.last, last);
    }
  }
  std::vector<ExplanationStep> chosen;
  for (ExplanationStep& step : explanation.steps) {
    const bool wanted = std::any_of(ranges.begin(), ranges.end(), [&step](StepRange range) {
      return range.first <= step.number && step.number <= range.last;
    });
    if (wanted) chosen.push_back(std::move(step));
  }
  if (chosen.empty()) {
    throw UsageError("{}: this kind of attention has no such step; leave --step out to see all",
                     ranges.front().first);
  }
  explanation.steps = std::move(chosen);
  return explanation;
}

}  // namespace attn
