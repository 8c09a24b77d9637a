#include "view/terminal/show_selection.h"

#include "base/error.h"
#include "base/excerpt.h"

namespace attn {
namespace {

ShowItem parse_item(const std::string& argument) {
  const std::vector<std::string_view> parts = split_at(argument, ':');
  const std::optional<AttentionKind> kind = parse_kind(parts[0]);
  if (!kind || parts.size() > 3) {
    throw UsageError(
        "\"{}\": expected KIND, KIND:LAYER or KIND:LAYER:HEAD, where KIND is encoder, "
        "decoder or cross, or the word all or none; try cross:0:1",
        excerpt(argument));
  }
  ShowItem item{*kind, std::nullopt, std::nullopt};
  if (parts.size() > 1) item.layer = parse_index(argument, parts[1], "layer");
  if (parts.size() > 2) item.head = parse_index(argument, parts[2], "head");
  return item;
}

}  // namespace

ShowSelection parse_show(const std::vector<std::string>& arguments) {
  ShowSelection selection;
  if (arguments.empty()) return selection;
  selection.last_layers = false;
  bool none = false;
  for (const std::string& argument : arguments) {
    if (argument == "all") {
      selection.all = true;
    } else if (argument == "none") {
      none = true;
    } else {
      selection.items.push_back(parse_item(argument));
    }
  }
  if (none && (selection.all || !selection.items.empty())) {
    throw UsageError("none: other maps are asked for, too; give none alone or leave it out");
  }
  return selection;
}

void check_show(const ShowSelection& selection, const ModelSummary& model) {
  for (const ShowItem& item : selection.items) {
    check_head(to_string(item), item.layer, item.head, model.stack(item.kind));
  }
}

}  // namespace attn
