// The tokenizer that an experiment file asks for, trained on the experiment's text.
#pragma once

#include <string>

#include "config/experiment.h"
#include "service/field_text.h"
#include "text/tokenizer_trainer.h"

namespace attn {

/// unigram, bpe or word; UsageError beginning with `where`.
TokenizerType parse_tokenizer_type(const FieldText& where, const std::string& text);

/// tokenizer.vocab_size, or the default where the file leaves it out.
int tokenizer_vocab_size(const TokenizerConfig& config);

/// Reads both files into training.source_lines and target_lines. SystemError where one cannot be
/// read, InputError where one holds no text.
void read_training_text(TokenizerTraining& training, const ParallelFiles& files);

/// What to train for section `tokenizer` on data.train. InputError where the experiment names an
/// existing tokenizer, no type or no files.
TokenizerTraining tokenizer_training_for(const ExperimentConfig& experiment);

/// train_tokenizer(), with a word to who waits at a terminal.
TrainedTokenizer train_tokenizer_with_progress(const TokenizerTraining& training,
                                     const std::string& directory);

/// Trains it and writes its files into `directory`, which is made where it is missing.
TrainedTokenizer train_tokenizer_for(const ExperimentConfig& experiment,
                                     const std::string& directory);

}  // namespace attn
