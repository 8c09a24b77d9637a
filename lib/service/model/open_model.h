// Opens the model that the options choose: a directory, a config or a preset. Nothing here trains
// anything; training/untrained_model.h handles configs without a tokenizer.
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

/// Reads an experiment's config with overrides of its keys.
ExperimentConfig read_with_overrides(const std::string& path,
                                     const std::vector<std::string>& overrides);

/// Returns a published shape. Throws InputError that names the nearest preset, and where all are
/// listed.
const Preset& named_preset(const std::string& name);

/// A shape without weights, for `inspect`.
struct ModelShape {
  ModelConfig config;
  std::string name;                       ///< as given by the user
  std::vector<std::string> unknown_keys;  ///< unknown keys of a directory's config.json
  std::vector<std::string> notes;
  FieldText
      instead;  ///< note that this is not the shipped model's shape, if no other model was named
  std::string directory = {};  ///< directory of its files; empty if there are none
};
ModelShape read_shape(const ModelChoice& options);

/// A model that can translate.
struct ReadyModel {
  std::unique_ptr<Transformer> transformer;
  std::unique_ptr<Tokenizer> tokenizer;
  std::string tokenizer_directory;  ///< directory whose tokenizer files `init` copies
  DecodeOptions decode;
  std::optional<int> default_forced_eos;  ///< for random weights; a directory sets it itself
  std::optional<std::uint64_t> seed;      ///< seed of random weights
  std::string name;
  std::string prefix;  ///< prefix of every source text (TranslationSettings::prefix)
  MatmulPrecision precision = MatmulPrecision::float32;
  std::vector<FieldText> notes;
  /// Found by find_alignment_heads(), for a model whose config names none.
  std::vector<HeadIndex> alignment_heads = {};
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

  /// Returns the model whose files decide how all of them translate.
  const ReadyModel& first() const { return models.front(); }
  /// Returns the model whose maps are recorded.
  const ReadyModel& mapped() const { return models.at(maps_of); }
  std::vector<std::string> names() const;
};

/// Opens the models. Throws MemoryError if they do not fit together, and InputError naming two
/// models whose vocabularies differ.
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
