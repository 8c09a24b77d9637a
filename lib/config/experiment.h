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
  std::string type;    ///< unigram, bpe or word; empty if `model` names an existing one
  int vocab_size = 0;  ///< entries including </s> and <unk>, without <pad>; 0 with `model`
  bool joint = true;   ///< one vocabulary for both languages
  bool byte_fallback =
      false;  ///< spells characters without an entry in bytes, and does not normalize text
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
  /// Codes or names of languages, for multilingual tokenizers; empty: decided by their files.
  std::string source_lang, target_lang;
  std::string probe;         ///< sentence whose attention is watched during training
  std::string probe_target;  ///< its translation; empty: the model's own translation at the time
};

/// A path in an experiment file.
struct ConfigPath {
  std::string key;      ///< data.train.source
  std::string written;  ///< as written in the file or in an override
  std::string path;     ///< the resulting absolute path
};

struct ExperimentConfig {
  std::string path;  ///< the file, for messages
  ModelConfig model;
  TokenizerConfig tokenizer;
  DataConfig data;
  TrainConfig train;
  DecodeOptions decode;
  /// The file's sections with overrides applied and absolute paths: the config as used.
  Json document = Json::object();
  std::vector<ConfigPath> paths;
};

/// Throws SystemError for the first path whose key begins with `keys` and that does not exist. It
/// names the file, the key, and the folder that paths are relative to.
void check_paths_exist(const ExperimentConfig& config, std::string_view keys);

/// Reads an experiment file. `overrides` are "section.key=value" (value: JSON, or a bare string),
/// applied before anything is checked. Paths are relative to the file. Throws InputError for an
/// unknown section or key and names the nearest known one; throws UsageError for a malformed
/// override. Lines that begin with // after optional whitespace are comments.
ExperimentConfig read_experiment(const std::string& path,
                                 const std::vector<std::string>& overrides);

/// Does the same for the text of the file `path`.
ExperimentConfig parse_experiment(std::string_view text, const std::string& path,
                                  const std::vector<std::string>& overrides);

/// Returns every key that an experiment file may have: "train.updates", "model.d_model", ….
std::vector<std::string> experiment_keys();

}  // namespace attn
