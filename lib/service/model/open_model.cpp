#include "service/model/open_model.h"

#include <filesystem>
#include <limits>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "compute/threads.h"
#include "config/family.h"
#include "config/patterns/sparse_pattern.h"
#include "config/presets.h"
#include "model/transformer.h"
#include "service/model/hub_cache.h"
#include "service/model/model_and_tokenizer.h"
#include "service/model/shipped.h"
#include "service/progress.h"
#include "translate/ensemble.h"

namespace attn {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDemoConfig = "configs/demo.json";
constexpr const char* kDemoTokenizer = "data/demo/tokenizer";

ModelConfig preset_config(const ModelChoice& choice) {
  if (!choice.overrides.empty()) {
    refuse_field(Field{"set"}, " changes a config's keys, and a preset has no file; use ",
                 Field{"d_model"}, ", ", Field{"heads"}, " and ", Field{"layers"},
                 ", or write a config");
  }
  ModelConfig config = preset_model_config(named_preset(choice.preset));
  const auto set = [](const char* field, std::optional<std::uint64_t> size, int& first,
                      int* second) {
    if (!size) return;
    first = to_int(parse_whole({field, 1, 1'000'000'000}, std::to_string(*size)));
    if (second != nullptr) *second = first;
  };
  set("d_model", choice.d_model, config.d_model, nullptr);
  set("heads", choice.heads, config.encoder_heads, &config.decoder_heads);
  set("layers", choice.layers, config.encoder_layers, &config.decoder_layers);
  return config;
}

ReadyModel finish_random(ReadyModel ready, ModelConfig config, const ModelChoice& choice,
                         const std::string& where) {
  const std::uint64_t seed = choice.seed.value_or(1);
  const Progress progress("making random weights");
  fit_to_tokenizer(config, *ready.tokenizer, where);
  ready.transformer =
      std::make_unique<Transformer>(random_model(config, seed, backend_for(choice.precision)));
  ready.transformer->set_name(where);
  ready.seed = seed;
  ready.default_forced_eos = config.eos_token_id;
  ready.decode = decode_defaults_for(ready.decode, config);
  return ready;
}

/// Returns a note that the requested shape replaces the default, for users who expect the shipped
/// model.
FieldText not_the_shipped(const ModelChoice& choice, const ModelConfig& config) {
  return {choice.asked_changes(false),
          fmt::format(": a random model of {} columns ({}), not the shipped one", config.d_model,
                      kDemoConfig)};
}

ReadyModel make_from_preset(const ModelChoice& choice) {
  ReadyModel ready;
  ModelConfig config = preset_config(choice);
  config.vocab_size = 0;
  ready.name = choice.preset;
  ready.tokenizer_directory = shipped(kDemoTokenizer);
  ready.tokenizer = std::make_unique<Tokenizer>(ready.tokenizer_directory);
  ready.notes.push_back({Field{"preset"}, " " + choice.preset,
                         " gives this Transformer the preset's shape, with the demo's small "
                         "vocabulary"});
  return for_field<InputError>(
      "preset", [&] { return finish_random(std::move(ready), config, choice, choice.preset); });
}

/// Makes a model with random weights in the shape of a config. `tokenizer_directory` holds the
/// tokenizer for a config that names none.
ReadyModel make_from_config(const ModelChoice& choice, const std::string& path,
                            const std::string& tokenizer_directory) {
  ReadyModel ready;
  ExperimentConfig experiment = read_with_overrides(path, choice.all_overrides());
  check_shape(experiment.model, path, choice.asked_changes(true));
  check_paths_exist(experiment, "tokenizer.");
  ready.name = path;
  ready.decode = experiment.decode;
  ready.tokenizer_directory = experiment.tokenizer.model;
  if (ready.tokenizer_directory.empty()) ready.tokenizer_directory = tokenizer_directory;
  if (ready.tokenizer_directory.empty()) {
    throw InputError("{}: names no tokenizer (tokenizer.model)", printable(path));
  }
  ready.tokenizer = std::make_unique<Tokenizer>(ready.tokenizer_directory);
  return finish_random(std::move(ready), experiment.model, choice, path);
}

/// Refuses the directory of a training run, which holds its model in a subfolder.
void refuse_run_directory(const std::string& directory) {
  const fs::path run(directory);
  if (file_exists((run / "model.safetensors").string())) return;
  if (!directory_exists((run / "model").string()) || !file_exists((run / "train.jsonl").string())) {
    return;
  }
  throw InputError("{}: a training run, not a model; its model is {}", printable(directory),
                   printable((run / "model").string()));
}

ReadyModel load_from_directory(const std::string& named, Backend backend) {
  const std::string directory = model_directory(named);
  refuse_run_directory(directory);
  require_model(named, directory);
  refuse_byte_model(directory);
  const Progress progress("reading " + directory);
  ReadyModel ready;
  std::optional<LoadedModel> loaded;
  // Both are loaded at once, because they take about as long. If both fail, the model's error is
  // reported.
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
  ready.notes.assign(loaded->notes.begin(), loaded->notes.end());
  return ready;
}

/// Sets the requested global tokens. Throws UsageError if the model does not support them.
void choose_globals(const ModelChoice& choice, Transformer& transformer) {
  if (choice.globals.empty()) return;
  const ModelConfig& config = transformer.config();
  const bool learned = family_of(config).globals == GlobalTokenType::learned;
  if (learned || !sparse_pattern(config.encoder_attention).has_global_tokens()) {
    refuse_field(Field{"global"},
                 fmt::format(" {}: the encoder of {} cannot have global tokens; only LED and the "
                             "patterns longformer and chunks have them",
                             excerpt(choice.globals), transformer.name()));
  }
  transformer.set_global_positions(choice.global_positions(config.max_positions));
}

/// Each model checks the memory that it needs itself while it is loaded; this checks the memory
/// for all of them first.
void require_room_for_all(const std::vector<std::string>& directories, Backend backend) {
  std::uint64_t bytes = 0;
  for (const std::string& directory : directories) {
    const std::uint64_t own =
        prepared_bytes(read_directory_config(model_directory(directory)).model, backend);
    bytes = checked_add(bytes, own).value_or(~std::uint64_t{0});
  }
  require_memory(bytes, fmt::format("preparing {} models", directories.size()));
}

/// Returns the shipped model if there is one and the options do not ask for another; empty
/// otherwise.
std::string default_model(const ModelChoice& choice) {
  if (choice.asks_for_another()) return "";
  try {
    return shipped(default_model_name);
  } catch (const InputError&) {
    return "";
  }
}

}  // namespace

std::string chosen_config(const ModelChoice& choice) {
  if (!choice.models.empty() || !choice.preset.empty()) return "";
  if (!choice.config.empty()) return choice.config;
  return default_model(choice).empty() ? shipped(kDemoConfig) : "";
}

ExperimentConfig read_with_overrides(const std::string& path,
                                     const std::vector<std::string>& overrides) {
  return for_field("set", [&] { return read_experiment(path, overrides); });
}

const Preset& named_preset(const std::string& name) {
  try {
    return find_preset(name);
  } catch (const InputError& error) {
    throw FieldError<InputError>(
        FieldText(error.what(), " (", Command{"inspect"}, " ", Field{"presets"}, " lists all)"));
  }
}

namespace {

/// Calls validate(). Its errors name the path, followed by the requested changes.
void validate_asked(const ModelConfig& config, const std::string& path, const FieldText& asked) {
  try {
    validate(config, path);
  } catch (const InputError& error) {
    const std::string text = error.what();
    if (asked.empty() || !text.starts_with(path + ":")) throw;
    throw FieldError<InputError>(FieldText(path, " with ", asked, text.substr(path.size())));
  }
}

/// Returns the shape that a config describes, with the vocabulary that its tokenizer has or will
/// have.
ModelShape shape_of_config(const ModelChoice& choice, const std::string& path) {
  const ExperimentConfig experiment = read_with_overrides(path, choice.all_overrides());
  ModelConfig config = experiment.model;
  if (!experiment.tokenizer.model.empty()) {
    check_paths_exist(experiment, "tokenizer.");
    fit_to_tokenizer(config, Tokenizer(experiment.tokenizer.model), path);
  } else if (config.vocab_size == 0) {
    // The tokens that the tokenizer counts, and one more for <pad>.
    config.vocab_size = config.decoder_vocab_size = tokenizer_vocab_size(experiment.tokenizer) + 1;
    config.pad_token_id = config.decoder_start_token_id = config.vocab_size - 1;
  }
  validate_asked(config, path, choice.asked_changes(true));
  const bool instead = choice.config.empty() && choice.asks_for_another();
  return {config, path, {}, {}, instead ? not_the_shipped(choice, config) : FieldText()};
}

}  // namespace

ModelShape read_shape(const ModelChoice& choice) {
  choice.check_one_source();
  std::string directory = choice.models.empty() ? "" : choice.models.front();
  if (choice.models.empty() && choice.config.empty() && choice.preset.empty()) {
    directory = default_model(choice);
  }
  if (!directory.empty()) {
    const std::string files = model_directory(directory);
    DirectoryConfig read = read_directory_config(files);
    return {read.model, directory, std::move(read.unknown_keys), std::move(read.notes), {}, files};
  }
  if (!choice.preset.empty()) {
    ModelConfig config = preset_config(choice);
    for_field<InputError>("preset", [&] { validate(config, choice.preset); });
    return {config, choice.preset, {}, {}, {}};
  }
  return shape_of_config(choice, chosen_config(choice));
}

namespace {

ReadyModel open_chosen_model(const ModelChoice& choice, const std::string& tokenizer_directory) {
  const Backend backend = backend_for(choice.precision);
  if (!choice.models.empty()) return load_from_directory(choice.models.front(), backend);
  if (!choice.preset.empty()) return make_from_preset(choice);
  const std::string config = chosen_config(choice);
  if (config.empty()) {
    ReadyModel ready = load_from_directory(default_model(choice), backend);
    ready.name = default_model_name;  // wherever it is installed
    return ready;
  }
  ReadyModel ready = make_from_config(choice, config, tokenizer_directory);
  if (choice.config.empty() && choice.asks_for_another()) {
    ready.notes.push_back(not_the_shipped(choice, ready.transformer->config()));
  }
  return ready;
}

/// A T5 model is told its task in words, which its files list. No text gets these words by
/// default.
void choose_prefix(const ModelChoice& choice, ReadyModel& ready) {
  ready.prefix = choice.prefix;
  const std::vector<std::string> prefixes = task_prefixes(ready.decode);
  if (!choice.prefix.empty() || prefixes.empty()) return;
  std::vector<std::string> quoted;
  for (const std::string& prefix : prefixes) quoted.push_back(in_quotes(prefix));
  ready.notes.emplace_back(fmt::format("{}: config.json (task_specific_params) names the prefixes "
                                       "{}; type one before a text, or give it with ",
                                       printable(ready.name), fmt::join(quoted, ", ")),
                           Field{"prefix"});
}

}  // namespace

ReadyModel open_model(const ModelChoice& choice, const std::string& tokenizer_directory) {
  choice.check_one_source();
  ReadyModel ready = open_chosen_model(choice, tokenizer_directory);
  ready.precision = choice.precision;
  choose_globals(choice, *ready.transformer);
  choose_prefix(choice, ready);
  return ready;
}

std::vector<std::string> ReadyEnsemble::names() const {
  std::vector<std::string> all;
  for (const ReadyModel& model : models) all.push_back(model.name);
  return all;
}

ReadyEnsemble open_models(const ModelChoice& choice) {
  ReadyEnsemble ready;
  ready.maps_of = choice.maps_index();
  const Backend backend = backend_for(choice.precision);
  if (choice.several()) require_room_for_all(choice.models, backend);
  ready.models.push_back(open_model(choice));
  for (std::size_t i = 1; i < choice.models.size(); ++i) {
    ready.models.push_back(load_from_directory(choice.models[i], backend));
    ready.models.back().precision = choice.precision;
    choose_globals(choice, *ready.models.back().transformer);
    require_same_vocabulary(*ready.models.front().tokenizer, choice.models.front(),
                            *ready.models.back().tokenizer, choice.models[i]);
  }
  return ready;
}

void register_inputs(const ModelChoice& choice, FileGuard& guard) {
  choice.check_one_source();
  for (const std::string& directory : choice.models) {
    guard.read_all(Field{"model"}, model_directory(directory));
  }
  if (!choice.models.empty() || !choice.preset.empty()) return;
  const std::string config = chosen_config(choice);
  if (config.empty()) return guard.read_all("the shipped model", default_model(choice));
  guard.read(Field{"config"}, config);
  const ExperimentConfig experiment = read_with_overrides(config, choice.all_overrides());
  guard.read_all("tokenizer.model", experiment.tokenizer.model);
  guard.read("data.train.source", experiment.data.train.source);
  guard.read("data.train.target", experiment.data.train.target);
}

void check_shape(const ModelConfig& shape, const std::string& path, const FieldText& asked) {
  ModelConfig checked = shape;
  if (checked.vocab_size == 0) checked.vocab_size = checked.decoder_vocab_size = 8;
  checked.pad_token_id = checked.eos_token_id = checked.decoder_start_token_id = 0;
  validate_asked(checked, path, asked);
}

}  // namespace attn
