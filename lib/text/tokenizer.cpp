#include "text/tokenizer.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/strings/utf8.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

/// True if spiece.model belongs to T5: decided by the tokenizer's class, otherwise by the model's
/// type.
bool is_of_t5(const std::string& directory) {
  std::string name = read_tokenizer_settings(directory).tokenizer_class;
  const std::string config = directory + "/config.json";
  if (name.empty() && file_exists(config)) {
    const Json json = read_json_file(config);
    if (json.is_object() && json.contains("model_type") && json["model_type"].is_string()) {
      name = json["model_type"];
    }
  }
  for (const std::string_view start : {"T5", "MT5", "t5", "mt5", "umt5"}) {
    if (name.starts_with(start)) return true;
  }
  return false;
}

/// Chooses the kind by the files that exist. If there are none, the error lists Marian's files.
std::unique_ptr<const TokenizerKind> open_tokenizer(const std::string& directory) {
  if (!directory_exists(directory)) {
    throw SystemError(
        "{}: no such directory; expected one with source.spm, target.spm and vocab.json",
        printable(directory));
  }
  const auto has = [&](const char* name) { return file_exists(directory + "/" + name); };
  if (has("source.spm")) return marian_tokenizer(directory);
  if (has("tokenizer.json")) return json_tokenizer(directory);
  if (has("sentencepiece.bpe.model")) return fairseq_tokenizer(directory);
  if (has("spiece.model")) {
    return is_of_t5(directory) ? t5_tokenizer(directory) : pegasus_tokenizer(directory);
  }
  if (has("merges.txt")) return byte_level_tokenizer(directory);
  refuse_byte_model(directory);
  return marian_tokenizer(directory);
}

}  // namespace

void refuse_byte_model(const std::string& directory) {
  std::string name = read_tokenizer_settings(directory).tokenizer_class;
  const std::string config = directory + "/config.json";
  if (name.empty() && file_exists(config)) {
    const Json json = read_json_file(config);
    const auto found = json.is_object() ? json.find("tokenizer_class") : json.end();
    if (json.is_object() && found != json.end() && found->is_string()) name = *found;
  }
  if (!name.starts_with("ByT5")) return;
  throw InputError(
      "{}: a ByT5 model, whose tokens are bytes, which is not supported; use a model with a "
      "vocabulary, such as T5, mT5 or MarianMT",
      printable(directory));
}

Tokenizer::Tokenizer(const std::string& directory) : kind_(open_tokenizer(directory)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

EncodedText Tokenizer::encode_source(std::string_view text, int language) const {
  return kind_->encode(TextSide::source, text, language);
}

EncodedText Tokenizer::encode_target(std::string_view text, int language) const {
  return kind_->encode(TextSide::target, text, language);
}

void Tokenizer::require_sampling(double sampling, const std::string& where) const {
  kind_->require_sampling(sampling, where);
}

NormalizedText Tokenizer::normalise_source(std::string_view text) const {
  return kind_->normalise(TextSide::source, text);
}

NormalizedText Tokenizer::normalise_target(std::string_view text) const {
  return kind_->normalise(TextSide::target, text);
}

EncodedText Tokenizer::sample_source(const NormalizedText& text, double sampling,
                                     RandomGenerator& random) const {
  return kind_->sample(TextSide::source, text, sampling, random);
}

EncodedText Tokenizer::sample_target(const NormalizedText& text, double sampling,
                                     RandomGenerator& random) const {
  return kind_->sample(TextSide::target, text, sampling, random);
}

std::string Tokenizer::decode_target(const std::vector<int>& ids) const {
  for (const int id : ids) target_token(id);  // throws for an invalid id
  return kind_->decode(ids);
}

const std::string& Tokenizer::source_token(int id) const {
  if (id >= 0 && id < source_vocab_size()) return kind_->piece(TextSide::source, id);
  throw InputError("source id {}: outside the vocabulary; expected 0 to {}", id,
                   source_vocab_size() - 1);
}

const std::string& Tokenizer::target_token(int id) const {
  if (id >= 0 && id < target_vocab_size()) return kind_->piece(TextSide::target, id);
  throw InputError("target id {}: outside the vocabulary; expected 0 to {}", id,
                   target_vocab_size() - 1);
}

int Tokenizer::source_vocab_size() const {
  return kind_->vocab_size(TextSide::source);
}
int Tokenizer::target_vocab_size() const {
  return kind_->vocab_size(TextSide::target);
}
int Tokenizer::source_ids_in_use() const {
  return kind_->ids_in_use(TextSide::source);
}
int Tokenizer::target_ids_in_use() const {
  return kind_->ids_in_use(TextSide::target);
}
bool Tokenizer::separate_vocabularies() const {
  return kind_->separate_vocabularies();
}
SpecialTokens Tokenizer::special_tokens() const {
  return kind_->special_tokens();
}

const Languages& Tokenizer::languages() const {
  return kind_->languages();
}

const std::vector<std::string>& tokenizer_files() {
  static const std::vector<std::string> names{"source.spm",
                                              "target.spm",
                                              "vocab.json",
                                              "target_vocab.json",
                                              "spiece.model",
                                              "sentencepiece.bpe.model",
                                              "merges.txt",
                                              "tokenizer.json",
                                              "tokenizer_config.json",
                                              "special_tokens_map.json",
                                              "added_tokens.json",
                                              "SHA256SUMS"};
  return names;
}

void copy_tokenizer(const std::string& from, const std::string& to,
                    const LanguageCodes& languages) {
  const bool speaks = !languages.source.empty() || !languages.target.empty();
  for (const std::string& name : tokenizer_files()) {
    const std::string file = from + "/" + name;
    if (!file_exists(file)) continue;
    if (name != "tokenizer_config.json" || !speaks) {
      write_file(to + "/" + name, read_file(file));
      continue;
    }
    Json settings = read_json_file(file);
    if (!languages.source.empty()) settings["src_lang"] = languages.source;
    if (!languages.target.empty()) settings["tgt_lang"] = languages.target;
    write_file(to + "/" + name, settings.dump(2) + "\n");
  }
}

// Helpers shared by the kinds of tokenizers.

namespace {

/// Python's str.isspace, which str.strip uses.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

}  // namespace

std::string strip(std::string_view text) {
  std::size_t begin = text.size();  // of the first non-space character
  std::size_t end = text.size();    // after the last non-space character
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    if (!is_python_space(c.value)) {
      begin = std::min(begin, at);
      end = at + c.length;
    }
    at += c.length;
  }
  return std::string(text.substr(begin, end - begin));
}

std::string read_tokenizer_file(const std::string& directory, const char* name) {
  const std::string path = directory + "/" + name;
  if (!file_exists(path)) {
    throw InputError("{}: no such file; a model directory needs it beside its other files",
                     printable(path));
  }
  return read_file(path);
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(from, begin)) != text.npos; begin = at + from.size()) {
    out.append(text, begin, at - begin).append(to);
  }
  text = out.append(text, begin);
}

void clean_up_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

int required_id(const Vocabulary& vocabulary, const std::string& piece, const std::string& where) {
  if (const auto id = vocabulary.find(piece)) return *id;
  throw InputError("{}: the special piece \"{}\" is missing; expected it with an id of its own",
                   where, excerpt(piece));
}

const Languages& TokenizerKind::languages() const {
  static const Languages none;
  return none;
}

void TokenizerKind::require_sampling(double sampling, const std::string& where) const {
  throw InputError(
      "{}: tokenizer.sampling {}: this tokenizer has only one segmentation of a text; expected "
      "source.spm and target.spm of a unigram or BPE model, or tokenizer.sampling 0",
      where, sampling);
}

NormalizedText TokenizerKind::normalise(TextSide, std::string_view) const {
  throw std::logic_error("this tokenizer cannot split at random");
}

EncodedText TokenizerKind::sample(TextSide, const NormalizedText&, double, RandomGenerator&) const {
  throw std::logic_error("this tokenizer cannot split at random");
}

}  // namespace attn
