#include "analysis/map_selection.h"

#include "base/error.h"

namespace attn {

MapSelection parse_map_selection(const std::vector<std::string>& arguments) {
  MapSelection selection;
  if (arguments.empty()) return selection;
  selection.last_layers = false;
  bool none = false;
  for (const std::string& argument : arguments) {
    if (argument == "all") {
      selection.all = true;
    } else if (argument == "none") {
      none = true;
    } else {
      selection.items.push_back(parse_head_name(argument, ", or the word all or none"));
    }
  }
  if (none && (selection.all || !selection.items.empty())) {
    throw UsageError("none: other maps are asked for, too; give none alone or leave it out");
  }
  return selection;
}

void check_map_selection(const MapSelection& selection, const ModelSummary& model) {
  for (const ShowItem& item : selection.items) {
    check_head(to_string(item), item.layer, item.head, model.stack(item.site));
  }
}

}  // namespace attn
