// Reads tests/golden/models/NAME: a model directory, and PyTorch's results with it.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "model/directory/model_directory.h"

namespace attn::test {

inline std::string golden_root() {
  return std::string(ATTN_SOURCE_DIR) + "/tests/golden/models";
}

inline std::vector<std::string> golden_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(golden_root())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Returns the models whose encoder has full attention, so that a map is the softmax of a record's
/// numbers.
inline std::vector<std::string> full_golden_names() {
  std::vector<std::string> names = golden_names();
  std::erase_if(names, [](const std::string& name) {
    return name.starts_with("led-") || name.starts_with("pegasus-x-") || name == "bigbird-blocks";
  });
  return names;
}

struct GoldenModel {
  std::string name;
  LoadedModel model;
  Json golden;

  explicit GoldenModel(const std::string& golden_name, Backend backend = default_backend())
      : name(golden_name),
        model(load_model(golden_root() + "/" + golden_name, backend)),
        golden(read_json_file(golden_root() + "/" + golden_name + "/golden.json")) {}
};

inline std::vector<int> ids_of(const Json& json) {
  return json.get<std::vector<int>>();
}

inline PackedTokens pack(const std::vector<std::vector<int>>& sentences) {
  PackedTokens packed;
  for (const std::vector<int>& ids : sentences) packed.add(ids);
  return packed;
}

}  // namespace attn::test
