#include "text/tokenizer_trainer.h"

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <iterator>
#include <new>
#include <string_view>
#include <system_error>
#include <unordered_map>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/memory.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace sentencepiece::logging {
// Exported by the library but not declared in its public headers.
void SetMinLogLevel(int level);  // NOLINT(readability-identifier-naming)
}  // namespace sentencepiece::logging

namespace attn {
namespace {

// The library prints errors to stderr that it also returns as a status.
constexpr int kFatalOnly = 3;

constexpr const char* kPad = "<pad>";
constexpr int kModelMaxLength = 512;  // MarianTokenizer's default

using Lines = std::vector<const std::string*>;
using LibraryOptions = std::unordered_map<std::string, std::string>;

/// Feeds sentences to the library without temporary files.
class LineIterator : public sentencepiece::SentenceIterator {
 public:
  explicit LineIterator(const Lines& lines) : lines_(lines) {}
  bool done() const override { return at_ == lines_.size(); }
  void Next() override { ++at_; }
  const std::string& value() const override { return *lines_[at_]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const Lines& lines_;
  std::size_t at_ = 0;
};

const char* type_name(TokenizerType type) {
  switch (type) {
    case TokenizerType::unigram:
      return "unigram";
    case TokenizerType::bpe:
      return "bpe";
    case TokenizerType::word:
      return "word";
  }
  return "unigram";
}

LibraryOptions library_options(const TokenizerTraining& training) {
  const bool as_it_is = training.type == TokenizerType::word || training.byte_fallback;
  return {{"model_type", type_name(training.type)},
          {"vocab_size", std::to_string(training.vocab_size)},
          {"hard_vocab_limit", "false"},
          // With byte fallback the rarest characters, one in 2,000, are spelled in bytes.
          {"character_coverage", training.byte_fallback ? "0.9995" : "1.0"},
          {"byte_fallback", training.byte_fallback ? "true" : "false"},
          {"eos_id", "0"},
          {"unk_id", "1"},
          {"bos_id", "-1"},
          {"pad_id", "-1"},
          {"add_dummy_prefix", "true"},
          {"normalization_rule_name", as_it_is ? "identity" : "nmt_nfkc"},
          {"num_threads", "4"},  // the thread count changes the sums, and so the scores
          {"minloglevel", "3"}};
}

/// Runs the library; returns its error message, or "" on success.
std::string run_library(const LibraryOptions& options, const Lines& lines, std::string& model) {
  const NoUnwindScope call;
  try {
    LineIterator iterator(lines);
    const auto status = sentencepiece::SentencePieceTrainer::Train(options, &iterator, &model);
    return status.ok() ? "" : status.ToString();
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::system_error& error) {  // a thread could not be created
    throw MemoryError("training a tokenizer: {}; it needs more memory or threads", error.what());
  } catch (const std::exception& error) {
    return error.what();
  }
}

/// Checks the memory before training, because the library ends the process if one of its threads
/// runs out of memory. The check counts the thread stacks and the memory for the text: at most 40
/// bytes per byte, as measured.
void require_training_memory(const Lines& lines) {
  constexpr std::uint64_t kStacks = std::uint64_t{4} * 8 << 20;
  constexpr std::uint64_t kRest = std::uint64_t{32} << 20;
  std::uint64_t text = 0;
  for (const std::string* line : lines) text += line->size();
  require_memory(kStacks + kRest + 60 * text, "training a tokenizer on this text");
}

/// True if any character is left after normalization; otherwise the unigram trainer would end the
/// whole process. A character model gives the answer, usually from the first lines.
bool has_characters(const TokenizerTraining& training, const Lines& lines) {
  constexpr std::ptrdiff_t kFirst = 100;
  LibraryOptions options = library_options(training);
  options["model_type"] = "char";
  options["byte_fallback"] = "false";
  options["vocab_size"] = std::to_string(kMaxVocabSize);
  const auto found = [&](const Lines& some) {
    std::string model;
    return run_library(options, some, model).empty() &&
           parse_sentencepiece_model(model, "characters").pieces.size() > 2;  // </s>, <unk>
  };
  if (std::ssize(lines) <= kFirst) return found(lines);
  return found(Lines(lines.begin(), lines.begin() + kFirst)) || found(lines);
}

/// Returns the number of pieces needed for single characters from the library's message "…
/// required_chars. 10 vs 45. …"; empty for any other message.
std::string pieces_needed(const std::string& problem) {
  if (problem.find("required_chars. ") == std::string::npos) return "";
  const std::size_t versus = problem.find(" vs ", problem.find("required_chars. "));
  if (versus == std::string::npos) return "";
  const std::size_t begin = versus + 4;
  return problem.substr(begin, problem.find_first_not_of("0123456789", begin) - begin);
}

/// A model with a piece of more than 2,048 bytes cannot be loaded, so words must be shorter.
void check_word_lengths(const Lines& lines, const std::string& what) {
  constexpr std::size_t kLongestWord = 2000;
  for (const std::string* line : lines) {
    if (line->size() > kLongestTrainingLine) continue;  // skipped by the training
    for (std::size_t begin = 0; begin < line->size();) {
      const std::size_t end = std::min(line->find(' ', begin), line->size());
      if (end - begin > kLongestWord) {
        throw InputError(
            "{}: a word of {} bytes; expected at most {}; use type unigram or bpe, or correct the "
            "text",
            what, end - begin, kLongestWord);
      }
      begin = end + 1;
    }
  }
}

/// Trains on `lines` and returns the model's bytes; `what` names the lines in errors.
std::string train_model(const TokenizerTraining& training, const Lines& lines,
                        const std::string& what) {
  const auto too_long = [](const std::string* line) { return line->size() > kLongestTrainingLine; };
  if (!lines.empty() && std::all_of(lines.begin(), lines.end(), too_long)) {
    throw InputError(
        "{}: no line of at most {} bytes, and SentencePiece leaves out longer ones; write one "
        "sentence per line",
        what, kLongestTrainingLine);
  }
  if (training.type == TokenizerType::word) check_word_lengths(lines, what);
  require_training_memory(lines);
  if (!has_characters(training, lines)) {
    throw InputError("{}: no text to train a tokenizer on; expected at least one sentence", what);
  }
  std::string model;
  const std::string problem = run_library(library_options(training), lines, model);
  if (problem.empty()) return model;
  const std::string needed = pieces_needed(problem);
  if (!needed.empty()) {
    throw InputError(
        "{}: vocab_size {} is too small for a {} tokenizer: </s>, <unk> and the text's different "
        "characters are {} pieces already; take {} or more",
        what, training.vocab_size, type_name(training.type), needed, needed);
  }
  throw InputError(
      "{}: SentencePiece cannot train a {} model of {} pieces: {}; try another vocab_size or "
      "more text",
      what, type_name(training.type), training.vocab_size, printable(problem));
}

/// Returns the model's pieces in its own order, with </s> at 0 and <unk> at 1.
std::vector<std::string> pieces_of(const std::string& model, const std::string& what) {
  std::vector<std::string> pieces;
  for (const SentencePieceEntry& piece : parse_sentencepiece_model(model, what).pieces) {
    if (piece.text == kPad) {
      throw InputError("{}: the text contains {}, which means padding; remove it", what, kPad);
    }
    pieces.emplace_back(piece.text);
  }
  return pieces;
}

/// Adds fillers up to `size` tokens and then <pad> as the last one.
void finish(std::vector<std::string>& pieces, std::size_t size) {
  for (std::size_t i = 1; pieces.size() < size; ++i) {
    std::string filler = fmt::format("<filler_{}>", i);
    if (std::find(pieces.begin(), pieces.end(), filler) == pieces.end()) {
      pieces.push_back(std::move(filler));
    }
  }
  pieces.emplace_back(kPad);
}

std::string vocabulary_json(const std::vector<std::string>& pieces) {
  std::string json = "{";
  for (std::size_t id = 0; id < pieces.size(); ++id) {
    json += id == 0 ? "\n  " : ",\n  ";
    append_string(json, pieces[id]);
    json += fmt::format(": {}", id);
  }
  return json + "\n}\n";
}

std::string config_json(const TokenizerTraining& training) {
  Json config = Json::object();
  config["tokenizer_class"] = "MarianTokenizer";
  config["source_lang"] = training.source_language;
  config["target_lang"] = training.target_language;
  config["eos_token"] = "</s>";
  config["unk_token"] = "<unk>";
  config["pad_token"] = kPad;
  config["model_max_length"] = kModelMaxLength;
  config["separate_vocabs"] = !training.joint;
  config["clean_up_tokenization_spaces"] = false;
  return config.dump(2) + "\n";
}

void make_directory(const std::string& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) {
    throw SystemError("{}: cannot make the directory: {}; choose another place",
                      printable(directory), error.message());
  }
}

void append_lines(Lines& out, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out.push_back(&line);
}

}  // namespace

TrainedTokenizer train_tokenizer(const TokenizerTraining& training, const std::string& directory) {
  if (training.vocab_size < kMinVocabSize || training.vocab_size > kMaxVocabSize) {
    throw InputError("tokenizer: vocab_size {} is out of range; expected {} to {}",
                     training.vocab_size, kMinVocabSize, kMaxVocabSize);
  }
  if (training.byte_fallback && training.type == TokenizerType::word) {
    throw InputError("tokenizer: whole words are not spelled in bytes; use unigram or bpe");
  }
  sentencepiece::logging::SetMinLogLevel(kFatalOnly);
  Lines source_lines;
  Lines target_lines;
  append_lines(source_lines, training.source_lines);
  append_lines(training.joint ? source_lines : target_lines, training.target_lines);
  const std::string source_name =
      training.joint ? training.source_name + " and " + training.target_name : training.source_name;
  const std::string& target_name = training.joint ? source_name : training.target_name;
  const std::string source = train_model(training, source_lines, source_name);
  const std::string target =
      training.joint ? source : train_model(training, target_lines, target_name);
  std::vector<std::string> source_pieces = pieces_of(source, source_name);
  std::vector<std::string> target_pieces = pieces_of(target, target_name);
  TrainedTokenizer made{to_int(source_pieces.size()), to_int(target_pieces.size()), 0};
  for (const Lines* lines : {&source_lines, &target_lines}) {
    made.skipped_lines +=
        to_size(std::count_if(lines->begin(), lines->end(), [](const std::string* line) {
          return line->size() > kLongestTrainingLine;
        }));
  }
  const std::size_t size = std::max(source_pieces.size(), target_pieces.size());
  finish(source_pieces, size);
  finish(target_pieces, size);

  make_directory(directory);
  write_file(directory + "/source.spm", source);
  write_file(directory + "/target.spm", target);
  write_file(directory + "/vocab.json", vocabulary_json(source_pieces));
  if (!training.joint) {
    write_file(directory + "/target_vocab.json", vocabulary_json(target_pieces));
  }
  write_file(directory + "/tokenizer_config.json", config_json(training));
  return made;
}

std::vector<std::string> read_lines(const std::string& path, TextRole role, Tables tables) {
  const std::string text = read_text_file(path);
  std::vector<std::string> lines;
  if (const std::optional<RoleTexts> found = texts_of_role(text, path, role, tables)) {
    for (const std::string& line : found->texts.front().lines) {
      lines.push_back(clean_text(line).text);
    }
    return lines;
  }
  for (const std::string_view line : split_lines(text)) lines.push_back(clean_text(line).text);
  return lines;
}

}  // namespace attn
