#include "service/training/experiment_bundle.h"

#include <filesystem>
#include <utility>

#include "base/files/files.h"
#include "service/training/experiment_tokenizer.h"
#include "text/tokenizer.h"
#include "train/corpus.h"

namespace attn {
namespace {

constexpr const char* kTokenizer = "tokenizer";

class BundleWriter {
 public:
  explicit BundleWriter(const std::string& directory) : directory_(directory) {}

  void put(const std::string& name, std::string_view bytes) {
    write_file(directory_ + "/" + name, bytes);
    files_.push_back(name);
  }

  /// Both sides of `data`, as the section `key` will name them.
  Json text(const std::string& key, const ParallelFiles& data) {
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

ExperimentBundle bundle_experiment(const std::string& config, const std::string& directory) {
  const ExperimentConfig experiment = read_experiment(config, {});
  for (const char* keys : {"tokenizer.", "data.train.", "data.dev."}) {
    check_paths_exist(experiment, keys);
  }
  ExperimentBundle bundle;
  bundle.name = std::filesystem::path(config).stem().string();
  bundle.pairs = read_parallel(experiment.data.train).source.size();

  BundleWriter writer(directory);
  Json document = experiment.document;
  Json tokenizer = {{"model", kTokenizer}};
  if (experiment.tokenizer.sampling > 0) tokenizer["sampling"] = experiment.tokenizer.sampling;
  document["tokenizer"] = std::move(tokenizer);
  Json& data = document["data"];
  data.erase("test");
  data["train"] = writer.text("train", experiment.data.train);
  if (!experiment.data.dev.source.empty()) data["dev"] = writer.text("dev", experiment.data.dev);
  writer.put(bundle.name + ".json", document.dump(2) + "\n");
  writer.tokenizer(experiment);
  bundle.files = writer.take_files();
  return bundle;
}

}  // namespace attn
