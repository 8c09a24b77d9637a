#include "service/training/carried_experiment.h"

#include <filesystem>
#include <utility>

#include "base/files/files.h"
#include "service/training/experiment_tokenizer.h"
#include "text/tokenizer.h"
#include "train/corpus.h"

namespace attn {
namespace {

constexpr const char* kTokenizer = "tokenizer";

class Carrier {
 public:
  explicit Carrier(const std::string& directory) : directory_(directory) {}

  void put(const std::string& name, std::string_view bytes) {
    write_file(directory_ + "/" + name, bytes);
    files_.push_back(name);
  }

  /// Both sides of `data`, as the section `key` will name them.
  Json text(const std::string& key, const DataFiles& data) {
    Json section = Json::object();
    for (const auto& [side, path] :
         {std::pair{"source", &data.source}, std::pair{"target", &data.target}}) {
      const std::string name = key + "." + side;
      put(name, read_file(*path));
      section[side] = name;
    }
    return section;
  }

  void tokenizer(const ExperimentConfig& experiment) {
    const std::string folder = directory_ + "/" + kTokenizer;
    std::filesystem::create_directory(folder);
    if (experiment.tokenizer.model.empty()) {
      train_tokenizer_for(experiment, folder);
    } else {
      copy_tokenizer(experiment.tokenizer.model, folder);
    }
    for (const std::string& name : tokenizer_files()) {
      const std::string file = std::string(kTokenizer) + "/" + name;
      if (file_exists(directory_ + "/" + file)) files_.push_back(file);
    }
  }

  std::vector<std::string> take_files() { return std::move(files_); }

 private:
  std::string directory_;
  std::vector<std::string> files_;
};

}  // namespace

CarriedExperiment carry_experiment(const std::string& config, const std::string& directory) {
  const ExperimentConfig experiment = read_experiment(config, {});
  for (const char* keys : {"tokenizer.", "data.train.", "data.dev."}) {
    require_paths(experiment, keys);
  }
  CarriedExperiment carried;
  carried.name = std::filesystem::path(config).stem().string();
  carried.pairs = read_parallel(experiment.data.train).source.size();

  Carrier carrier(directory);
  Json document = experiment.document;
  Json tokenizer = {{"model", kTokenizer}};
  if (experiment.tokenizer.sampling > 0) tokenizer["sampling"] = experiment.tokenizer.sampling;
  document["tokenizer"] = std::move(tokenizer);
  Json& data = document["data"];
  data.erase("test");
  data["train"] = carrier.text("train", experiment.data.train);
  if (!experiment.data.dev.source.empty()) data["dev"] = carrier.text("dev", experiment.data.dev);
  carrier.put(carried.name + ".json", document.dump(2) + "\n");
  carrier.tokenizer(experiment);
  carried.files = carrier.take_files();
  return carried;
}

}  // namespace attn
