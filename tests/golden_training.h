// Reads tests/golden/training/NAME: a model, a batch, and the results of PyTorch's autograd and
// Adam.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/at.h"
#include "base/json.h"
#include "model/directory/model_directory.h"
#include "model/directory/safetensors.h"
#include "model/training/training_pass.h"

namespace attn::test {

inline std::string training_root() {
  return std::string(ATTN_SOURCE_DIR) + "/tests/golden/training";
}

inline std::vector<std::string> training_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(training_root())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// Reads a tensor of a file in its stored order.
inline std::vector<float> read_tensor(const SafetensorsFile& file, const std::string& name) {
  const TensorInfo* info = file.find(name);
  if (info == nullptr) return {};
  std::vector<float> values(info->elements);
  file.read(*info, values.data());
  return values;
}

/// Returns a parameter's numbers in the order of the file.
inline std::vector<float> in_file_order(const ParameterInfo& info, const Parameter& parameter) {
  const Parameter p = info.transposed ? parameter.transposed() : parameter;
  std::vector<float> values;
  for (Index i = 0; i < p.rows; ++i) {
    for (Index j = 0; j < p.columns; ++j) values.push_back(p.at(i, j));
  }
  return values;
}

struct TrainingGolden {
  Json golden;
  std::string directory;
  TrainableModel model;
  TrainingBatch batch;

  explicit TrainingGolden(const std::string& name)
      : golden(read_json_file(training_root() + "/" + name + "/golden.json")),
        directory(training_root() + "/" + name),
        model(read_directory_config(directory).model,
              load_model(directory, Backend::panels).transformer) {
    for (const Json& pair : golden["batch"]) {
      batch.add(pair["source_ids"].get<std::vector<int>>(),
                pair["target_ids"].get<std::vector<int>>(), model.config().decoder_start_token_id);
    }
  }

  PassOptions options() const {
    PassOptions o;
    o.label_smoothing = golden["label_smoothing"].get<float>();
    o.gradient_scale = 1.0F / static_cast<float>(batch.tokens());
    o.dropout = false;
    return o;
  }

  bool is_noise(const std::string& name) const {
    const Json& noise = golden["noise"];
    return std::find(noise.begin(), noise.end(), name) != noise.end();
  }
};

}  // namespace attn::test
