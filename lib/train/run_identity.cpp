#include "train/run_identity.h"

#include "base/files.h"
#include "base/sha256.h"
#include "config/key_reader.h"
#include "text/tokenizer.h"

namespace attn {
namespace {

/// What may differ: it ends the run, or watches it.
constexpr const char* kFree[] = {"updates", "epochs", "patience", "log_every", "checkpoint_every"};

std::string digest(const std::string& path) {
  return sha256_hex(read_file(path, std::size_t{1} << 34));
}

void add_digests(Json& data, const char* part, const DataFiles& files) {
  if (!files.source.empty()) data[part]["source"] = digest(files.source);
  if (!files.target.empty()) data[part]["target"] = digest(files.target);
}

}  // namespace

Json run_identity(const ExperimentConfig& experiment, const ModelConfig& model,
                  const std::string& tokenizer_directory) {
  Json identity = Json::object();
  identity["model"] = to_directory_json(model);
  for (const char* key : {"dropout", "attention_dropout", "activation_dropout"}) {
    if (!identity["model"].contains(key)) identity["model"][key] = 0.0;
  }
  Json train = experiment.document.value("train", Json::object());
  const bool falls = experiment.train.schedule == LearningRateSchedule::linear ||
                     experiment.train.schedule == LearningRateSchedule::cosine;
  for (const std::string key : kFree) {
    if (key == "updates" && falls) continue;
    // Averaging over checkpoints depends on when they are made.
    if (key == "checkpoint_every" && experiment.train.average == Averaging::checkpoints) continue;
    train.erase(key);
  }
  identity["train"] = train;
  identity["decode"] = experiment.document.value("decode", Json::object());
  identity["probe"] = experiment.data.probe;
  Json data = Json::object();
  add_digests(data, "train", experiment.data.train);
  add_digests(data, "dev", experiment.data.dev);
  identity["data"] = data;
  Json tokenizer = Json::object();
  for (const std::string& name : tokenizer_files()) {
    const std::string path = tokenizer_directory + "/" + name;
    if (file_exists(path)) tokenizer[name] = digest(path);
  }
  identity["tokenizer"] = tokenizer;
  return identity;
}

std::string first_difference(const Json& before, const Json& now) {
  if (before.is_object() && now.is_object()) {
    Json keys = before;
    keys.update(now);
    for (const auto& [key, value] : keys.items()) {
      const Json was = before.contains(key) ? before[key] : Json(nullptr);
      const Json is = now.contains(key) ? now[key] : Json(nullptr);
      const std::string difference = first_difference(was, is);
      if (difference.empty()) continue;
      const bool leaf = difference.front() == ' ';
      return key + (leaf ? "" : ".") + difference;
    }
    return "";
  }
  if (before == now) return "";
  return " was " + describe(before) + " and is " + describe(now);
}

}  // namespace attn
