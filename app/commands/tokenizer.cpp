// attn-demo tokenizer: trains SentencePiece models on text and writes them as a directory that this
// program and transformers' MarianTokenizer can load.
#include <algorithm>
#include <memory>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "commands/arguments.h"
#include "commands/commands.h"
#include "commands/help.h"
#include "config/experiment.h"
#include "service/model/open_model.h"
#include "service/output_safety.h"
#include "service/training/experiment_setup.h"
#include "terminal/console.h"
#include "text/tokenizer_trainer.h"

namespace attn {
namespace {

struct TokenizerOptions {
  std::string config;
  std::vector<std::string> overrides;
  std::string source;
  std::string target;
  std::string type;
  std::optional<int> vocab_size;
  bool separate = false;
  std::string source_language = "en";
  std::string target_language = "de";
  std::string out;
};

/// Parses a language code for tokenizer_config.json: en, pt_BR, zho-Hans.
std::string parse_language(const std::string& option, const std::string& text) {
  const bool plain = !text.empty() && text.size() <= 32 &&
                     std::all_of(text.begin(), text.end(), [](unsigned char c) {
                       return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_' || c == '-';
                     });
  if (!plain) {
    throw UsageError("{} {}: expected a language code such as en, de or pt_BR", option,
                     excerpt(text));
  }
  return text;
}

/// Requires either a config, or files and their settings.
void check_sources(const TokenizerOptions& options) {
  const bool files = !options.source.empty() || !options.target.empty();
  const bool shaped = !options.type.empty() || options.vocab_size || options.separate;
  if (options.config.empty()) {
    if (!options.overrides.empty()) {
      throw UsageError("--set changes a key of a config, and you gave no config; name its file");
    }
    if (options.source.empty() || options.target.empty()) {
      throw UsageError(
          "tokenizer needs --source FILE and --target FILE, or a config; attn-demo tokenizer "
          "--help shows examples");
    }
  } else if (files || shaped) {
    throw UsageError(
        "{}: a config has its own files and sizes; change them with --set tokenizer.KEY=VALUE and "
        "--set data.train.source=FILE, or give no config",
        printable(options.config));
  }
}

/// Throws UsageError if stdout or stderr goes to an input file.
void check_streams(const TokenizerOptions& options) {
  FileGuard guard;
  guard.read("CONFIG", options.config);
  guard.read("--source", options.source);
  guard.read("--target", options.target);
  if (options.config.empty()) return;
  const ParallelFiles train = read_with_overrides(options.config, options.overrides).data.train;
  guard.read("data.train.source", train.source);
  guard.read("data.train.target", train.target);
}

TokenizerTraining training_for(const TokenizerOptions& options) {
  if (!options.config.empty()) {
    return tokenizer_training_for(read_with_overrides(options.config, options.overrides));
  }
  TokenizerTraining training;
  if (!options.type.empty()) training.type = parse_tokenizer_type(Field{"type"}, options.type);
  if (options.vocab_size) training.vocab_size = *options.vocab_size;
  training.joint = !options.separate;
  read_training_text(training, {options.source, options.target});
  return training;
}

std::string kind_of(const TokenizerTraining& training) {
  switch (training.type) {
    case TokenizerType::unigram:
      return "unigram";
    case TokenizerType::bpe:
      return "bpe";
    case TokenizerType::word:
      return "whole-word";
  }
  return "";
}

std::string report(const TokenizerTraining& training, const TrainedTokenizer& made,
                   const std::string& out) {
  const std::string& source = training.source_language;
  const std::string& target = training.target_language;
  std::string text = fmt::format("{}: {} tokenizer, ", out, kind_of(training));
  if (training.joint) {
    text += fmt::format("{} pieces and <pad>, one vocabulary for {} and {}\n", made.source_pieces,
                        source, target);
  } else {
    text += fmt::format("{} pieces for {} and {} for {}, and <pad>\n", made.source_pieces, source,
                        made.target_pieces, target);
    if (made.source_pieces != made.target_pieces) {
      text += fmt::format("the smaller vocabulary is padded to {}, so that <pad> has one id\n",
                          std::max(made.source_pieces, made.target_pieces));
    }
  }
  const int fewest = std::min(made.source_pieces, made.target_pieces);
  if (fewest < training.vocab_size) {
    text += fmt::format("fewer pieces than the requested {}: the text has no more\n",
                        training.vocab_size);
  }
  if (made.skipped_lines > 0) {
    text += fmt::format("lines left out because they are longer than {} bytes: {}\n",
                        kLongestTrainingLine, made.skipped_lines);
  }
  return text + fmt::format("files: source.spm, target.spm, vocab.json, {}tokenizer_config.json\n",
                            training.joint ? "" : "target_vocab.json, ");
}

void run_tokenizer(const TokenizerOptions& options) {
  check_sources(options);
  const std::string source_language = parse_language("--source-language", options.source_language);
  const std::string target_language = parse_language("--target-language", options.target_language);
  check_streams(options);
  NewDirectory directory(options.out);
  TokenizerTraining training = training_for(options);
  training.source_language = source_language;
  training.target_language = target_language;
  const TrainedTokenizer made = train_tokenizer_with_progress(training, directory.temporary_path());
  directory.commit();
  output().write(report(training, made, printable(options.out)));
}

}  // namespace

void add_tokenizer(CLI::App& app, Run& run) {
  auto options = std::make_shared<TokenizerOptions>();
  CLI::App* command =
      app.add_subcommand("tokenizer", "Train a tokenizer on text: unigram, BPE or whole words");
  command
      ->add_option("CONFIG", options->config,
                   "Experiment file; its tokenizer section and its data.train are used")
      ->type_name("FILE")
      ->group(help_group::reads);
  command
      ->add_option("--set", options->overrides,
                   "Override a config key, section.key=value: --set tokenizer.vocab_size=4000")
      ->type_name("SECTION.KEY=VALUE")
      ->take_all()
      ->allow_extra_args(false)
      ->group(help_group::model);
  const auto add = [&](const char* name, std::string& value, const char* what, const char* type) {
    return command->add_option(name, value, what)->type_name(type)->group(help_group::makes);
  };
  add("--source", options->source, "Text in the source language, one sentence per line", "FILE")
      ->group(help_group::reads);
  add("--target", options->target, "Text in the target language", "FILE")->group(help_group::reads);
  add("--type", options->type, "Kind of tokenizer [unigram]", "unigram|bpe|word");
  add_number(*command, options->vocab_size, WholeField{"vocab_size", 3, to_size(kMaxVocabSize)},
             "Maximum number of vocabulary entries, including </s> and <unk> but not <pad> [8000]")
      ->type_name("N")
      ->group(help_group::makes);
  command->add_flag("--separate", options->separate, "Make one vocabulary per language")
      ->group(help_group::makes);
  add("--source-language", options->source_language, "Code of the source language [en]", "CODE");
  add("--target-language", options->target_language, "Code of the target language [de]", "CODE");
  add("--out", options->out, "Directory to make", "DIR")->required();
  command->footer(
      "Examples:\n"
      "  attn-demo tokenizer --source data/toy/train.en --target data/toy/train.de \\\n"
      "    --type word --vocab-size 200 --out toy-words\n"
      "  attn-demo tokenizer configs/toy.json --set tokenizer.type=bpe --out toy-bpe");
  refuse_empty_values(*command, {});
  command->callback([options, &run] { run = [options] { run_tokenizer(*options); }; });
}

}  // namespace attn
