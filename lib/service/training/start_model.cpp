#include "service/training/start_model.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "config/model_sizes.h"
#include "model/directory/model_directory.h"

namespace attn {
namespace {

constexpr std::array kDropouts{"dropout", "attention_dropout", "activation_dropout"};

/// The key that an alias stands for.
std::string main_name(const std::string& key) {
  const auto& sizes = size_keys();
  const auto size = std::ranges::find(sizes, key, &SizeKey::alias);
  return size == sizes.end() ? key : size->key;
}

bool is_dropout(const std::string& key) {
  return std::ranges::find(kDropouts, key) != kDropouts.end();
}

/// What a config says of the shape is the directory's, key by key.
void check_agreement(const ExperimentConfig& experiment, const ModelConfig& found,
                     const std::string& directory) {
  const Json asked = to_config_json(experiment.model);
  const Json has = to_config_json(found);
  const Json section = experiment.document.value("model", Json::object());
  for (const auto& [key, value] : section.items()) {
    const std::string name = main_name(key);
    if (is_dropout(name) || !asked.contains(name) || !has.contains(name)) continue;
    if (asked[name] == has[name]) continue;
    throw InputError(
        "{}: model.{} is {}, and the model in {} has {}; weights keep their shape: leave the key "
        "out, or train without going on from that model",
        printable(experiment.path), key, describe(value), printable(directory),
        describe(has[name]));
  }
}

}  // namespace

std::string start_from_model(ExperimentConfig& experiment, const std::string& directory) {
  namespace fs = std::filesystem;
  const DirectoryConfig found = read_directory_config(directory);
  ModelConfig model = found.model;
  check_agreement(experiment, model, directory);
  const Json section = experiment.document.value("model", Json::object());
  for (const auto& [key, mine, config] :
       {std::tuple{kDropouts[0], &model.dropout, experiment.model.dropout},
        {kDropouts[1], &model.attention_dropout, experiment.model.attention_dropout},
        {kDropouts[2], &model.activation_dropout, experiment.model.activation_dropout}}) {
    if (section.contains(key)) *mine = config;
  }
  experiment.model = model;
  // How long a line it has learned stays true, what each translation begins with, and what tasks
  // its files name; its other settings of decoding are the config's.
  if (!experiment.decode.longest_source) {
    experiment.decode.longest_source = found.decode.longest_source;
  }
  if (!experiment.decode.forced_bos_token_id) {
    experiment.decode.forced_bos_token_id = found.decode.forced_bos_token_id;
  }
  experiment.decode.task_specific_params = found.decode.task_specific_params;

  TokenizerConfig& tokenizer = experiment.tokenizer;
  std::error_code gone;
  const bool another =
      !tokenizer.type.empty() ||
      (!tokenizer.model.empty() && !fs::equivalent(tokenizer.model, directory, gone));
  tokenizer.type.clear();
  tokenizer.vocab_size = 0;
  tokenizer.model = fs::absolute(directory, gone).lexically_normal().string();
  Json& document = experiment.document["tokenizer"];
  if (document.is_null()) document = Json::object();
  for (const char* key : {"type", "vocab_size", "joint", "byte_fallback"}) document.erase(key);
  document["model"] = tokenizer.model;
  if (!another) return "";
  return fmt::format("note: the tokenizer is that of {}; section tokenizer is not used",
                     printable(directory));
}

}  // namespace attn
