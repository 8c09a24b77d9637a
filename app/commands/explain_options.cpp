#include "commands/explain_options.h"

#include "analysis/map_selection.h"
#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "commands/arguments.h"

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

bool is_full_head_name(const std::string& head) {
  return head.find(':') != head.npos || parse_site(head);
}

HeadName parse_head_options(const std::string& kind, const std::string& layer,
                          const std::string& head) {
  const bool whole = is_full_head_name(head);
  if (whole && (!kind.empty() || !layer.empty())) {
    throw UsageError("--head {} says kind and layer itself; leave --kind and --layer out",
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

HeadIndex find_explained_head(HeadName name, const AttentionRecord& record, std::size_t hypothesis) {
  if (!name.head && name.site == AttentionSite::cross) name.pick = HeadSelector::best;
  name = resolve_best(name, record, hypothesis);
  const int last = record.model.stack(name.site).layers - 1;
  return {name.layer.value_or(last), name.head.value_or(0)};
}

}  // namespace attn
