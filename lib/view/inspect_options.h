// Options for the views of a model's shape and costs, in addition to its config.
#pragma once

#include <string>
#include <vector>

#include "config/model_report.h"

namespace attn {

struct InspectOptions {
  std::string name;             ///< the model's directory, config or preset as the user named it
  int source_length = 20;       ///< S, with </s>; at least 1
  int target_length = 20;       ///< L, with </s>; at least 1
  std::vector<HeadsRow> heads;  ///< the model with other numbers of heads; empty: no such table
  std::vector<int> lengths = {16, 32, 64, 128, 256, 512, 1024};  ///< lengths in the growth table
  std::vector<std::string> unknown_keys;                         ///< unknown keys in config.json
  std::vector<std::string> notes;
  /// Show only these tables. If neither is set, all tables are shown.
  bool only_growth = false, only_heads = false;
};

}  // namespace attn
