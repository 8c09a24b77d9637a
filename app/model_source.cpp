#include "model_source.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <limits>
#include <optional>
#include <system_error>

#include "base/at.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/files/unfinished.h"
#include "base/memory.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "compute/threads.h"
#include "config/family.h"
#include "config/kinds/pattern_kind.h"
#include "config/presets.h"
#include "experiment_tokenizer.h"
#include "hub_cache.h"
#include "model/model_memory.h"
#include "model/random_model.h"
#include "shipped.h"
#include "terminal/progress.h"
#include "translate/ensemble.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultModel = "data/models/en-de";
constexpr const char* kDemoConfig = "configs/demo.json";
constexpr const char* kDemoTokenizer = "data/demo/tokenizer";

ModelConfig preset_config(const ModelOptions& options) {
  if (!options.overrides.empty()) {
    throw UsageError(
        "--set changes a config's keys, and a preset has no file; use --d-model, "
        "--heads and --layers, or write a config");
  }
  ModelConfig config = model_config_for(named_preset(options.preset));
  const auto set = [](const char* option, const std::string& text, int& first, int* second) {
    if (text.empty()) return;
    first = to_int(parse_whole(option, text, 1, 1'000'000'000));
    if (second != nullptr) *second = first;
  };
  set("--d-model", options.d_model, config.d_model, nullptr);
  set("--heads", options.heads, config.encoder_heads, &config.decoder_heads);
  set("--layers", options.layers, config.encoder_layers, &config.decoder_layers);
  return config;
}

/// A tokenizer trained for one run lives in a directory that goes with it.
std::shared_ptr<Unfinished> temporary_directory() {
  std::error_code error;
  fs::path root = fs::temp_directory_path(error);
  if (error) root = "/tmp";
  const std::string path = (root / fmt::format("attn-demo-{}", geteuid())).string();
  std::shared_ptr<Unfinished> made = Unfinished::make_beside(Unfinished::Kind::tree, path, 0700);
  if (!made) {
    throw SystemError("{}: cannot make a temporary directory: {}; set TMPDIR",
                      printable(root.string()), std::generic_category().message(errno));
  }
  return made;
}

ReadyModel finish_random(ReadyModel ready, ModelConfig config, const ModelOptions& options,
                         const std::string& where) {
  const std::uint64_t seed = options.seed_number();
  const Progress progress("making random weights");
  fit_to_tokenizer(config, *ready.tokenizer, where);
  ready.transformer = std::make_unique<Transformer>(random_model(config, seed, options.backend()));
  ready.transformer->set_name(where);
  ready.seed = seed;
  ready.default_forced_eos = config.eos_token_id;
  ready.decode = with_own_defaults(ready.decode, config);
  return ready;
}

/// The options that change a config's model, as typed.
std::string asked_changes(const ModelOptions& options, bool with_values) {
  std::string asked;
  const auto add = [&](const std::string& text) { asked += (asked.empty() ? "" : ", ") + text; };
  for (const auto& [name, value] :
       {std::pair<std::string, const std::string&>{"--d-model", options.d_model},
        {"--heads", options.heads},
        {"--layers", options.layers}}) {
    if (!value.empty()) add(with_values ? name + " " + value : name);
  }
  if (!with_values && options.seed_given) add("--seed");
  if (!options.overrides.empty() && !with_values) add("--set");
  for (const std::string& set : options.overrides) {
    if (with_values && set.starts_with("model.")) add("--set " + set);
  }
  return asked;
}

/// The config, and what was typed to change its model: one of them is what a message is about.
std::string with_asked(const ModelOptions& options, const std::string& path) {
  const std::string asked = excerpt(asked_changes(options, true));
  return asked.empty() ? path : fmt::format("{} with {}", path, asked);
}

/// What a shape that was asked for makes of the default, for those who think of the shipped model.
std::string not_the_shipped(const ModelOptions& options, const ModelConfig& config) {
  return fmt::format("{}: a random model of {} columns ({}), not the shipped one",
                     asked_changes(options, false), config.d_model, kDemoConfig);
}

ReadyModel make_from_preset(const ModelOptions& options) {
  ReadyModel ready;
  options.seed_number();  // refused before anything is read
  ModelConfig config = preset_config(options);
  config.vocab_size = 0;
  ready.name = options.preset;
  ready.tokenizer_directory = shipped(kDemoTokenizer);
  ready.tokenizer = std::make_unique<Tokenizer>(ready.tokenizer_directory);
  ready.notes.push_back(fmt::format(
      "--preset {} gives this Transformer the preset's shape, with the demo's small vocabulary",
      options.preset));
  return finish_random(std::move(ready), config, options, "--preset " + options.preset);
}

ReadyModel make_from_config(const ModelOptions& options, const std::string& path) {
  ReadyModel ready;
  options.seed_number();  // refused before anything is read
  ExperimentConfig experiment = read_with_overrides(path, options.all_overrides());
  check_shape(experiment.model, with_asked(options, path));
  require_paths(experiment, "tokenizer.");
  ready.name = path;
  ready.decode = experiment.decode;
  ready.tokenizer_directory = experiment.tokenizer.model;
  if (ready.tokenizer_directory.empty()) {
    const std::shared_ptr<Unfinished> temporary = temporary_directory();
    ready.tokenizer_directory = temporary->path();
    ready.temporary = temporary;
    train_tokenizer_for(experiment, ready.tokenizer_directory);
  }
  ready.tokenizer = std::make_unique<Tokenizer>(ready.tokenizer_directory);
  return finish_random(std::move(ready), experiment.model, options, path);
}

/// The directory of a training run holds its model in a folder.
void refuse_run_directory(const std::string& directory) {
  const fs::path run(directory);
  if (file_exists((run / "model.safetensors").string())) return;
  if (!directory_exists((run / "model").string()) || !file_exists((run / "train.jsonl").string())) {
    return;
  }
  throw InputError("{}: a training run, and no model; its model is {}", printable(directory),
                   printable((run / "model").string()));
}

ReadyModel load_from_directory(const std::string& named, Backend backend) {
  const std::string directory = model_directory(named);
  refuse_run_directory(directory);
  const Progress progress("reading " + directory);
  ReadyModel ready;
  std::optional<LoadedModel> loaded;
  // Side by side, as they take about as long. Where both fail, the model's error is told.
  parallel_for(2, std::numeric_limits<Index>::max(), [&](Index part) {
    if (part == 0) {
      loaded.emplace(load_model(directory, backend));
    } else {
      ready.tokenizer = std::make_unique<Tokenizer>(directory);
    }
  });
  return_freed_memory();
  ready.transformer = std::make_unique<Transformer>(std::move(loaded->transformer));
  ready.tokenizer_directory = directory;
  ready.decode = loaded->decode;
  ready.name = named;
  ready.notes = std::move(loaded->notes);
  return ready;
}

/// Sets what --global says. UsageError where the model has no such tokens or places.
void choose_globals(const ModelOptions& options, Transformer& transformer) {
  if (options.globals.empty()) return;
  const ModelConfig& config = transformer.config();
  const bool learned = family_of(config).globals == GlobalTokens::learned;
  if (learned || !kind_of(config.encoder_attention).has_global_places()) {
    throw UsageError(
        "--global {}: the encoder of {} has no tokens to choose as global; LED and the patterns "
        "longformer and chunks have",
        excerpt(options.globals), transformer.name());
  }
  transformer.set_globals(options.global_places(config.max_positions));
}

/// Each model asks for its own room while it is loaded; all of them are asked for before.
void require_room_for_all(const std::vector<std::string>& directories, Backend backend) {
  std::uint64_t bytes = 0;
  for (const std::string& directory : directories) {
    const std::uint64_t own =
        prepared_bytes(read_directory_config(model_directory(directory)).model, backend);
    bytes = checked_add(bytes, own).value_or(~std::uint64_t{0});
  }
  require_memory(bytes, fmt::format("preparing {} models", directories.size()));
}

/// The model that ships, where there is one and nothing asks for another.
std::string default_model(const ModelOptions& options) {
  if (options.asks_for_another()) return "";
  try {
    return shipped(kDefaultModel);
  } catch (const InputError&) {
    return "";
  }
}

}  // namespace

ExperimentConfig read_with_overrides(const std::string& path,
                                     const std::vector<std::string>& overrides) {
  return for_option("--set", [&] { return read_experiment(path, overrides); });
}

const Preset& named_preset(const std::string& name) {
  try {
    return find_preset(name);
  } catch (const InputError& error) {
    throw InputError("{} (attn-demo inspect --presets lists all)", error.what());
  }
}

ModelShape read_shape(const ModelOptions& options) {
  options.check_one_source();
  const std::string directory =
      options.model.empty() && options.config.empty() && options.preset.empty()
          ? default_model(options)
          : options.model;
  if (!directory.empty()) {
    DirectoryConfig read = read_directory_config(model_directory(directory));
    return {read.model, directory, std::move(read.unknown_keys), std::move(read.notes), ""};
  }
  if (!options.preset.empty()) {
    ModelConfig config = preset_config(options);
    validate(config, "--preset " + options.preset);
    return {config, options.preset, {}, {}, ""};
  }
  const std::string path = options.config.empty() ? shipped(kDemoConfig) : options.config;
  const ExperimentConfig experiment = read_with_overrides(path, options.all_overrides());
  ModelConfig config = experiment.model;
  if (!experiment.tokenizer.model.empty()) {
    require_paths(experiment, "tokenizer.");
    fit_to_tokenizer(config, Tokenizer(experiment.tokenizer.model), path);
  } else if (config.vocab_size == 0) {
    // pieces as the tokenizer counts them, and one more for <pad>
    config.vocab_size = config.decoder_vocab_size = tokenizer_pieces(experiment.tokenizer) + 1;
    config.pad_token_id = config.decoder_start_token_id = config.vocab_size - 1;
  }
  validate(config, with_asked(options, path));
  const bool instead = options.config.empty() && options.asks_for_another();
  return {config, path, {}, {}, instead ? not_the_shipped(options, config) : ""};
}

namespace {

ReadyModel load_or_make_as_it_is(const ModelOptions& options) {
  if (!options.model.empty()) return load_from_directory(options.model, options.backend());
  if (!options.preset.empty()) return make_from_preset(options);
  if (!options.config.empty()) return make_from_config(options, options.config);
  const std::string directory = default_model(options);
  if (!directory.empty()) {
    ReadyModel ready = load_from_directory(directory, options.backend());
    ready.name = kDefaultModel;  // wherever it is installed
    return ready;
  }
  ReadyModel ready = make_from_config(options, shipped(kDemoConfig));
  if (options.asks_for_another()) {
    ready.notes.push_back(not_the_shipped(options, ready.transformer->config()));
  }
  return ready;
}

}  // namespace

ReadyModel load_or_make(const ModelOptions& options) {
  options.check_one_source();
  ReadyModel ready = load_or_make_as_it_is(options);
  ready.precision = options.precision;
  choose_globals(options, *ready.transformer);
  return ready;
}

std::vector<std::string> ReadyEnsemble::names() const {
  std::vector<std::string> all;
  for (const ReadyModel& model : models) all.push_back(model.name);
  return all;
}

ReadyEnsemble load_all(const ModelOptions& options) {
  ReadyEnsemble ready;
  ready.maps_of = options.maps_index();
  if (options.several()) {
    std::vector<std::string> directories = options.more_models;
    directories.push_back(options.model);
    require_room_for_all(directories, options.backend());
  }
  ready.models.push_back(load_or_make(options));
  for (const std::string& directory : options.more_models) {
    ready.models.push_back(load_from_directory(directory, options.backend()));
    ready.models.back().precision = options.precision;
    choose_globals(options, *ready.models.back().transformer);
    require_same_vocabulary(*ready.models.front().tokenizer, options.model,
                            *ready.models.back().tokenizer, directory);
  }
  return ready;
}

void tell_inputs(const ModelOptions& options, FileGuard& guard) {
  options.check_one_source();
  for (const std::string& directory : options.more_models) {
    guard.read_all("--model", model_directory(directory));
  }
  if (!options.model.empty()) return guard.read_all("--model", model_directory(options.model));
  if (!options.preset.empty()) return;  // no file of the user's
  std::string config = options.config;
  if (config.empty()) {
    const std::string directory = default_model(options);
    if (!directory.empty()) return guard.read_all("the shipped model", directory);
    config = shipped(kDemoConfig);
  }
  guard.read("--config", config);
  const ExperimentConfig experiment = read_with_overrides(config, options.all_overrides());
  guard.read_all("tokenizer.model", experiment.tokenizer.model);
  guard.read("data.train.source", experiment.data.train.source);
  guard.read("data.train.target", experiment.data.train.target);
}

void check_shape(const ModelConfig& shape, const std::string& where) {
  ModelConfig checked = shape;
  if (checked.vocab_size == 0) checked.vocab_size = checked.decoder_vocab_size = 8;
  checked.pad_token_id = checked.eos_token_id = checked.decoder_start_token_id = 0;
  validate(checked, where);
}

void fit_to_tokenizer(ModelConfig& config, const Tokenizer& tokenizer, const std::string& where) {
  const int source = tokenizer.source_vocab_size();
  const int target = tokenizer.target_vocab_size();
  if (tokenizer.separate_vocabularies() && config.share_embeddings) {
    throw InputError(
        "{}: share_encoder_decoder_embeddings is true, and the tokenizer's "
        "vocabularies are separate; set it to false or use a joint tokenizer",
        where);
  }
  if (config.vocab_size != 0 && config.vocab_size != source) {
    throw InputError("{}: vocab_size is {}, and the tokenizer has {} pieces; leave vocab_size out",
                     where, config.vocab_size, source);
  }
  config.vocab_size = source;
  config.decoder_vocab_size = target;
  const SpecialTokens special = tokenizer.special_tokens();
  config.eos_token_id = special.eos;
  config.pad_token_id = special.pad;
  const bool eos_starts = family_of(config).starts_with_eos && special.pad != target - 1;
  config.decoder_start_token_id = eos_starts ? special.eos : special.pad;
  config.model_type = model_type_for(config);
  validate(config, where);
}

DecodeOptions with_own_defaults(DecodeOptions decode, const ModelConfig& config) {
  if (!decode.bad_words_ids) {
    decode.bad_words_ids = std::vector<std::vector<int>>{{config.pad_token_id}};
  }
  return decode;
}

}  // namespace attn
