#include "commands/explain_options.h"

#include <algorithm>

#include "analysis/map_selection.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/help.h"
#include "config/attention_site.h"

namespace attn {
namespace {

int parse_number(std::string_view field, const std::string& text) {
  return to_int(parse_whole({field, 0, 1'000'000}, text));
}

HeadName parse_parts(const std::string& kind, const std::string& layer, const std::string& head) {
  HeadName name;
  if (!kind.empty()) {
    const std::optional<AttentionSite> found = parse_site(kind);
    if (!found) throw UsageError("--kind {}: expected encoder, decoder or cross", excerpt(kind));
    name.site = *found;
  }
  if (!layer.empty()) name.layer = parse_number("layer", layer);
  if (head == "best" || head == "mean") {
    name.pick = head == "best" ? HeadSelector::best : HeadSelector::mean;
  } else if (!head.empty()) {
    name.head = parse_number("head", head);
  }
  return name;
}

}  // namespace

void add_head_options(CLI::App& command, ExplainOptions& options) {
  command.add_option("--kind", options.kind, "Kind of attention [cross]")
      ->type_name("encoder|decoder|cross")
      ->group(help_group::explained);
  command.add_option("--layer", options.layer, "Layer, from 0 [the last, or the best head's]")
      ->type_name("N")
      ->group(help_group::explained);
  command
      .add_option("--head", options.head,
                  "Head: a number from 0, best, or a full name such as cross:2:1 [best, else 0]")
      ->type_name("HEAD")
      ->group(help_group::explained);
  command
      .add_option(
          "--query", options.query,
          "The query whose sums are written out: its number or its word [the program chooses]")
      ->type_name("N|WORD")
      ->group(help_group::explained);
  command
      .add_flag("--why", options.why,
                "Show how one item that attn-demo why prints is computed: what a key added to the "
                "word's logit")
      ->group(help_group::explained);
  command
      .add_option("--key", options.key,
                  "With --why: the key, by its number or its word [the largest item]")
      ->type_name("N|WORD")
      ->group(help_group::explained);
  command.add_option("--step", options.step, "Steps to show: 5-8, or 1,7-9 [all]")
      ->type_name("STEPS")
      ->group(help_group::explained);
  command
      .add_flag("--short", options.brief,
                "For a blackboard: only the query's scores, softmax and weighted sum")
      ->group(help_group::explained);
  command
      .add_flag(
          "--compare", options.compare,
          "Compare self- and cross-attention, separate and fused matrix multiplication, scaling, "
          "and positions; --compare attention: what each sparse approximation gives up")
      ->group(help_group::explained);
}

bool is_full_head_name(const std::string& head) {
  return head.find(':') != head.npos || parse_site(head);
}

HeadName parse_head_options(const std::string& kind, const std::string& layer,
                            const std::string& head) {
  const bool whole = is_full_head_name(head);
  if (whole && (!kind.empty() || !layer.empty())) {
    throw UsageError("--head {} already names the kind and the layer; leave --kind and --layer out",
                     excerpt(head));
  }
  const HeadName name = whole ? for_field("head", [&] { return parse_head_name(head); })
                              : parse_parts(kind, layer, head);
  if (name.pick == HeadSelector::mean) {
    throw UsageError("--head {}: a mean of heads has no queries and keys; name one head, or best",
                     excerpt(head));
  }
  if (name.pick == HeadSelector::best && name.site != AttentionSite::cross) {
    throw UsageError("--head best: only heads of cross-attention align words; give a number");
  }
  return name;
}

void check_head_options(const HeadName& name, bool whole, const ModelSummary& model) {
  const StackShape shape = model.stack(name.site);
  if (whole) return check_head("--head " + to_string(name), name.layer, name.head, shape);
  if (name.layer) {
    check_head(fmt::format("--layer {}", *name.layer), name.layer, std::nullopt, shape);
  }
  if (name.head) check_head(fmt::format("--head {}", *name.head), std::nullopt, name.head, shape);
}

HeadIndex find_explained_head(HeadName name, const AttentionRecord& record,
                              std::size_t hypothesis) {
  if (!name.head && name.site == AttentionSite::cross) name.pick = HeadSelector::best;
  name = resolve_best(name, record, hypothesis);
  const int last = record.model.stack(name.site).layers - 1;
  return {name.layer.value_or(last), name.head.value_or(0)};
}

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
