// The tokenizer of an experiment file, trained on the experiment's text.
#pragma once

#include <string>
#include <vector>

#include "config/experiment.h"
#include "service/field_text.h"
#include "text/tokenizer_trainer.h"

namespace attn {

/// Parses unigram, bpe or word. Throws UsageError that begins with `where`.
TokenizerType parse_tokenizer_type(const FieldText& where, const std::string& text);

/// Reads both files into training.source_lines and target_lines. Throws SystemError if one cannot
/// be read, and InputError if one contains no text.
void read_training_text(TokenizerTraining& training, const ParallelFiles& files);

/// Returns the settings of section `tokenizer` for training on data.train. Throws InputError if
/// the experiment names an existing tokenizer, no type or no files.
TokenizerTraining tokenizer_training_for(const ExperimentConfig& experiment);

/// Calls train_tokenizer(), and reports its progress.
TrainedTokenizer train_tokenizer_with_progress(const TokenizerTraining& training,
                                               const std::string& directory);

/// Trains the tokenizer and writes its files into `directory`, which is created if missing.
TrainedTokenizer train_tokenizer_for(const ExperimentConfig& experiment,
                                     const std::string& directory);

// A training run that continues from a model directory instead of random weights.

/// Makes the experiment one of the model in `directory`, whose shape and tokenizer replace the
/// sections `model` and `tokenizer`. Dropouts that the config names are kept. Its other keys of
/// the model must agree with the directory; otherwise throws InputError that names the key and
/// both values. Returns a sentence for the user if the tokenizer section differs, or "".
std::string start_from_model(ExperimentConfig& experiment, const std::string& directory);

// An experiment and everything that it trains on in one folder, so that it can be copied to
// another machine.

struct ExperimentBundle {
  std::string name;                ///< name of the experiment file, without .json
  std::vector<std::string> files;  ///< all files that were written there
  std::size_t pairs = 0;           ///< training pairs
};

/// Writes the experiment `config` into the existing `directory`: NAME.json with paths relative to
/// it, the texts of data.train and data.dev, and its tokenizer, which is trained if the experiment
/// asks for that. A run with it has the same numbers. Throws the errors of everything that it
/// reads.
ExperimentBundle bundle_experiment(const std::string& config, const std::string& directory);

}  // namespace attn
