// What the views of a model's shape and costs are told besides its config.
#pragma once

#include <string>
#include <vector>

#include "config/model_report.h"

namespace attn {

struct InspectOptions {
  std::string name;             ///< of the model: directory, config or preset as the user named it
  int source_length = 20;       ///< S, with </s>; at least 1
  int target_length = 20;       ///< L, with </s>; at least 1
  std::vector<HeadsRow> heads;  ///< the model with other heads; empty: no such table
  std::vector<int> lengths = {16, 32, 64, 128, 256, 512, 1024};  ///< of the growth table
  std::vector<std::string> unknown_keys;                         ///< of config.json
  std::vector<std::string> notes;
  /// Of a model's tables those that were asked for by name; neither: all.
  bool only_growth = false, only_heads = false;
};

}  // namespace attn
