// Experiment files (configs/*.json): sections model, tokenizer, data, train, decode.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "config/decode_config.h"
#include "config/model_config.h"
#include "config/train_config.h"

namespace attn {

/// The `tokenizer` section.
struct TokenizerConfig {
  std::string type;            ///< unigram, bpe or word; empty where `model` names an existing one
  int vocab_size = 0;          ///< pieces with </s> and <unk>, without <pad>; 0 with `model`
  bool joint = true;           ///< one vocabulary for both languages
  bool byte_fallback = false;  ///< bytes for what no piece covers, and text as it is typed
  /// The strength of subword sampling in training text, which is sampled anew in each epoch; 0:
  /// always the best segmentation. Unigram models: the exponent α of a segmentation's probability
  /// (Kudo 2018). BPE models: the probability of dropping a merge (Provilkov et al. 2020), below
  /// 1.
  double sampling = 0;
  std::string model;  ///< directory of an existing tokenizer (absolute after reading)
};

struct ParallelFiles {
  std::string source;  ///< absolute after reading; empty: not given
  std::string target;
};

struct DataConfig {
  ParallelFiles train;
  ParallelFiles dev;
  ParallelFiles test;
  /// Codes or names, of tokenizers that know several languages; empty: as their files say.
  std::string source_lang, target_lang;
  std::string probe;         ///< sentence whose attention is watched during training
  std::string probe_target;  ///< its translation; empty: what the model makes of it at the time
};

/// A path that an experiment file names.
struct ConfigPath {
  std::string key;      ///< data.train.source
  std::string written;  ///< as written in the file or in an override
  std::string path;     ///< where that leads: absolute
};

struct ExperimentConfig {
  std::string path;  ///< the file, for messages
  ModelConfig model;
  TokenizerConfig tokenizer;
  DataConfig data;
  TrainConfig train;
  DecodeOptions decode;
  /// The file's sections with overrides applied and paths absolute: the config as it was used.
  Json document = Json::object();
  std::vector<ConfigPath> paths;
};

/// SystemError for the first path whose key begins with `keys` and that leads to nothing: it names
/// the file, the key, and what paths are relative to.
void check_paths_exist(const ExperimentConfig& config, std::string_view keys);

/// Reads an experiment file. `overrides` are "section.key=value" (value: JSON, or a bare string),
/// applied before anything is checked. Paths are relative to the file. Throws InputError for an
/// unknown section or key and names the nearest known one; throws UsageError for a malformed
/// override. Lines that begin with // after optional whitespace are comments.
ExperimentConfig read_experiment(const std::string& path,
                                 const std::vector<std::string>& overrides);

/// The same of the text that the file `path` holds.
ExperimentConfig parse_experiment(std::string_view text, const std::string& path,
                                  const std::vector<std::string>& overrides);

/// Returns every key that an experiment file may have: "train.updates", "model.d_model", ….
std::vector<std::string> experiment_keys();

}  // namespace attn
