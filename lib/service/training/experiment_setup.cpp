#include "service/training/experiment_setup.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "config/key_reader.h"
#include "config/model_config.h"
#include "model/directory/model_directory.h"
#include "service/field_text.h"
#include "service/model/model_and_tokenizer.h"
#include "service/progress.h"
#include "text/tokenizer.h"
#include "train/corpus.h"

namespace attn {
namespace {

std::vector<std::string> read_text(const std::string& path, TextRole role, Tables tables) {
  std::vector<std::string> lines = read_lines(path, role, tables);
  const bool empty = std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find_first_not_of(' ') == std::string::npos;
  });
  if (empty) {
    throw InputError("{}: no text to train a tokenizer on; expected one sentence per line", path);
  }
  return lines;
}

}  // namespace

TokenizerType parse_tokenizer_type(const FieldText& where, const std::string& text) {
  if (text == "unigram") return TokenizerType::unigram;
  if (text == "bpe") return TokenizerType::bpe;
  if (text == "word") return TokenizerType::word;
  refuse_field(where, " " + excerpt(text), ": expected unigram, bpe or word");
}

void read_training_text(TokenizerTraining& training, const ParallelFiles& files) {
  training.source_name = files.source;
  training.target_name = files.target;
  const Tables tables = tables_of_sides(files.source, files.target);
  training.source_lines = read_text(files.source, TextRole::source, tables);
  training.target_lines = read_text(files.target, TextRole::reference, tables);
}

TokenizerTraining tokenizer_training_for(const ExperimentConfig& experiment) {
  const TokenizerConfig& wanted = experiment.tokenizer;
  if (!wanted.model.empty()) {
    throw InputError(
        "{}: tokenizer.model names an existing tokenizer, {}; to train one, put tokenizer.type "
        "(unigram, bpe or word) in its place",
        experiment.path, wanted.model);
  }
  if (wanted.type.empty()) {
    throw InputError(
        "{}: section tokenizer names neither a model nor a type; add "
        "\"tokenizer\": {{\"type\": \"unigram\", \"vocab_size\": 8000}} or {{\"model\": \"DIR\"}}",
        experiment.path);
  }
  if (experiment.data.train.source.empty() || experiment.data.train.target.empty()) {
    throw InputError(
        "{}: tokenizer.type {} is trained on data.train, which names no files; add "
        "data.train.source and data.train.target, or tokenizer.model",
        experiment.path, wanted.type);
  }
  check_paths_exist(experiment, "data.train.");
  TokenizerTraining training;
  training.type = parse_tokenizer_type(experiment.path + ": tokenizer.type", wanted.type);
  training.vocab_size = tokenizer_vocab_size(wanted);
  training.joint = wanted.joint;
  training.byte_fallback = wanted.byte_fallback;
  read_training_text(training, experiment.data.train);
  return training;
}

TrainedTokenizer train_tokenizer_with_progress(const TokenizerTraining& training,
                                               const std::string& directory) {
  const Progress progress(fmt::format("training a tokenizer of {} pieces", training.vocab_size));
  return train_tokenizer(training, directory);
}

TrainedTokenizer train_tokenizer_for(const ExperimentConfig& experiment,
                                     const std::string& directory) {
  return train_tokenizer_with_progress(tokenizer_training_for(experiment), directory);
}

namespace {

constexpr std::array kDropouts{"dropout", "attention_dropout", "activation_dropout"};

/// Returns the main name of a key that may be an alias.
std::string main_name(const std::string& key) {
  const auto& sizes = size_keys();
  const auto size = std::ranges::find(sizes, key, &SizeKey::alias);
  return size == sizes.end() ? key : size->key;
}

bool is_dropout(const std::string& key) {
  return std::ranges::find(kDropouts, key) != kDropouts.end();
}

/// Checks that each key of the config that describes the shape agrees with the directory's model.
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
        "out, or train without starting from that model",
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
  // These settings are kept from the model's own files: the longest source that it has learned,
  // the token that begins each translation, and its tasks. Its other decoding settings come from
  // the config.
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

namespace {

constexpr const char* kTokenizer = "tokenizer";

class BundleWriter {
 public:
  explicit BundleWriter(const std::string& directory) : directory_(directory) {}

  void put(const std::string& name, std::string_view bytes) {
    write_file(directory_ + "/" + name, bytes);
    files_.push_back(name);
  }

  /// Describes both sides of `data` under the names that the section `key` will use.
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
