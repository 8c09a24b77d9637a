// Opens the model that a front end was asked for: a directory, a config or a preset. Nothing here
// trains anything; training/untrained_model.h does what a config without a tokenizer needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/decode_config.h"
#include "config/experiment.h"
#include "config/model_config.h"
#include "config/presets.h"
#include "model/directory/model_directory.h"
#include "service/model/model_choice.h"
#include "service/output_safety.h"
#include "text/tokenizer.h"

namespace attn {

/// The config of an experiment with changes of its keys.
ExperimentConfig read_with_overrides(const std::string& path,
                                     const std::vector<std::string>& overrides);

/// A well-known shape; InputError that says which is nearest and where all are listed.
const Preset& named_preset(const std::string& name);

/// A shape without weights: what `inspect` needs.
struct ModelShape {
  ModelConfig config;
  std::string name;                       ///< as the user named it
  std::vector<std::string> unknown_keys;  ///< of a directory's config.json
  std::vector<std::string> notes;
  FieldText instead;  ///< that it is not the shipped model's, which nothing else was named for
  std::string directory = {};  ///< of its files; empty: there are none
};
ModelShape read_shape(const ModelChoice& options);

/// A model that can translate.
struct ReadyModel {
  std::unique_ptr<Transformer> transformer;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string tokenizer_directory;  ///< whose files `init` copies
  DecodeOptions decode;
  std::optional<int> default_forced_eos;  ///< of random weights; a directory says it itself
  std::optional<std::uint64_t> seed;      ///< of random weights
  std::string name;
  std::string prefix;  ///< of every source text (TranslationSettings::prefix)
  MatmulPrecision precision = MatmulPrecision::float32;
  std::vector<FieldText> notes;
  /// Owns temporary files of this run, which are removed with it.
  std::shared_ptr<void> temporary;
};

/// Opens a model directory, or makes random weights in the shape of a preset or config. Throws
/// InputError for a config that names no tokenizer, unless `tokenizer_directory` holds one.
ReadyModel open_model(const ModelChoice& choice, const std::string& tokenizer_directory = {});

/// Models that translate together; a single model if there is one --model or none.
struct ReadyEnsemble {
  std::vector<ReadyModel> models;
  std::size_t maps_of = 0;

  /// The model whose files decide how all of them translate.
  const ReadyModel& first() const { return models.front(); }
  /// The model whose maps are recorded.
  const ReadyModel& mapped() const { return models.at(maps_of); }
  std::vector<std::string> names() const;
};

/// MemoryError where all of them together would not fit; InputError naming two whose vocabularies
/// differ.
ReadyEnsemble open_models(const ModelChoice& choice);

/// Tells the guard every file that open_model or read_shape will read.
void register_inputs(const ModelChoice& options, FileGuard& guard);

/// Returns the path of the chosen config: the given one, or the demo's if the shipped model is
/// missing or another shape is requested. Empty if a directory or preset is opened.
std::string chosen_config(const ModelChoice& choice);

/// Checks the shape of an experiment before a tokenizer is trained in vain. Throws InputError with
/// the path, followed by the requested changes, because the error is in one of them.
void check_shape(const ModelConfig& shape, const std::string& path, const FieldText& asked);

}  // namespace attn
