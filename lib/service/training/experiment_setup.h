// The tokenizer that an experiment file asks for, trained on the experiment's text.
#pragma once

#include <string>
#include <vector>

#include "config/experiment.h"
#include "service/field_text.h"
#include "text/tokenizer_trainer.h"

namespace attn {

/// unigram, bpe or word; UsageError beginning with `where`.
TokenizerType parse_tokenizer_type(const FieldText& where, const std::string& text);

/// Reads both files into training.source_lines and target_lines. SystemError where one cannot be
/// read, InputError where one holds no text.
void read_training_text(TokenizerTraining& training, const ParallelFiles& files);

/// Returns the settings of section `tokenizer` for training on data.train. Throws InputError if
/// the experiment names an existing tokenizer, no type or no files.
TokenizerTraining tokenizer_training_for(const ExperimentConfig& experiment);

/// train_tokenizer(), with a word to who waits at a terminal.
TrainedTokenizer train_tokenizer_with_progress(const TokenizerTraining& training,
                                               const std::string& directory);

/// Trains it and writes its files into `directory`, which is made where it is missing.
TrainedTokenizer train_tokenizer_for(const ExperimentConfig& experiment,
                                     const std::string& directory);

// A training run that continues from a model directory instead of random weights.

/// Makes the experiment one of the model in `directory`: its shape and its tokenizer take the place
/// of the sections `model` and `tokenizer`. The config's dropouts stay where it names them. What
/// else it says of the model must be what the directory has (InputError that names the key and both
/// values). Returns a sentence for the user where the tokenizer section says something else, or "".
std::string start_from_model(ExperimentConfig& experiment, const std::string& directory);

// An experiment with everything that it trains on, in one folder: to be carried to where nothing
// else of this machine is.

struct ExperimentBundle {
  std::string name;                ///< of the experiment file, without .json
  std::vector<std::string> files;  ///< all that was put there
  std::size_t pairs = 0;           ///< to train on
};

/// Puts the experiment `config` into `directory`, which exists: NAME.json, whose paths are relative
/// to it, the texts of data.train and data.dev, and its tokenizer, trained where the experiment
/// asks for that. A run by it has the same numbers. Errors are those of everything that it reads.
ExperimentBundle bundle_experiment(const std::string& config, const std::string& directory);

}  // namespace attn
