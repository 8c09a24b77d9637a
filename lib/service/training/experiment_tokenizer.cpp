#include "service/training/experiment_tokenizer.h"

#include <algorithm>

#include "base/error.h"
#include "base/strings/excerpt.h"
#include "service/field_text.h"
#include "service/progress.h"

namespace attn {
namespace {

std::vector<std::string> read_text(const std::string& path) {
  std::vector<std::string> lines = read_lines(path);
  const bool empty = std::all_of(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find_first_not_of(' ') == std::string::npos;
  });
  if (empty) {
    throw InputError("{}: no text to train a tokenizer on; expected a sentence a line", path);
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

int tokenizer_vocab_size(const TokenizerConfig& config) {
  return config.vocab_size == 0 ? TokenizerTraining().vocab_size : config.vocab_size;
}

void read_training_text(TokenizerTraining& training, const ParallelFiles& files) {
  training.source_name = files.source;
  training.target_name = files.target;
  training.source_lines = read_text(files.source);
  training.target_lines = read_text(files.target);
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

}  // namespace attn
