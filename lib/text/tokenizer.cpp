#include "text/tokenizer.h"

#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/excerpt.h"
#include "base/files.h"
#include "base/utf8.h"
#include "text/checksums.h"
#include "text/piece_model.h"
#include "text/tokenizer_settings.h"
#include "text/vocabulary.h"

namespace attn {
namespace {

constexpr std::string_view kBlankMark = "▁";  // U+2581, SentencePiece's blank

std::string read_part(const std::string& directory, const char* name) {
  const std::string path = directory + "/" + name;
  if (!file_exists(path)) {
    throw InputError("{}: no such file; a model directory needs it beside its other files",
                     printable(path));
  }
  return read_file(path);
}

/// As Python's str.isspace sees it, which str.strip goes by.
bool is_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

std::string strip(std::string_view text) {
  std::size_t begin = text.size();  // of the first character that is no blank
  std::size_t end = text.size();    // after the last one
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint c = decode_code_point(text.substr(at));
    if (!is_space(c.value)) {
      begin = std::min(begin, at);
      end = at + c.length;
    }
    at += c.length;
  }
  return std::string(text.substr(begin, end - begin));
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; (at = text.find(from, begin)) != text.npos; begin = at + from.size()) {
    out.append(text, begin, at - begin).append(to);
  }
  text = out.append(text, begin);
}

/// clean_up_tokenization of transformers: English punctuation goes back to its word.
void clean_up_spaces(std::string& text) {
  constexpr std::pair<std::string_view, std::string_view> kRules[] = {
      {" .", "."},     {" ?", "?"},   {" !", "!"},   {" ,", ","},     {" ' ", "'"},
      {" n't", "n't"}, {" 'm", "'m"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to);
}

/// The leading >>xxx<< of a text; or nothing.
std::string_view language_mark(std::string_view text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : text.npos;
  return end == text.npos ? "" : text.substr(0, end + 2);
}

NormalisedText normalised(const PieceModel& model, std::string_view text) {
  const std::string_view mark = language_mark(text);
  return {std::string(mark), model.normalise(text.substr(mark.size()))};
}

int required_id(const Vocabulary& vocabulary, const std::string& piece, const std::string& where) {
  if (const auto id = vocabulary.find(piece)) return *id;
  throw InputError("{}: the special piece \"{}\" is missing; expected it with an id of its own",
                   where, excerpt(piece));
}

/// What cuts one language's text and numbers its pieces.
struct Side {
  const PieceModel& model;
  const Vocabulary& vocabulary;
  int unk;
};

}  // namespace

struct Tokenizer::Files {
  TokenizerSettings settings;
  SpecialTokens special;
  Vocabulary source_vocabulary;
  Vocabulary target_vocabulary_file;    ///< only where the vocabularies are separate
  std::vector<bool> is_target_special;  ///< [V] of the target
  int target_unk = 0;
  std::unique_ptr<const PieceModel> source_model;
  std::unique_ptr<const PieceModel> target_model_file;  ///< empty where it equals the source's

  explicit Files(const std::string& directory);
  void find_special_tokens(const std::string& directory);

  const Vocabulary& target_vocabulary() const {
    return settings.separate_vocabularies ? target_vocabulary_file : source_vocabulary;
  }
  bool is_special(std::string_view piece) const;

  const PieceModel& target_model() const {
    return target_model_file ? *target_model_file : *source_model;
  }

  Side source() const { return {*source_model, source_vocabulary, special.unk}; }
  Side target() const { return {target_model(), target_vocabulary(), target_unk}; }

  EncodedText encode(const Side& side, std::string_view text) const;
  EncodedText sample(const Side& side, const NormalisedText& text, double sampling,
                     RandomNumbers& random) const;
  EncodedText ids_of(const Side& side, std::string_view mark,
                     std::vector<std::string> pieces) const;
};

Tokenizer::Files::Files(const std::string& directory) {
  if (!directory_exists(directory)) {
    throw SystemError(
        "{}: no such directory; expected one with source.spm, target.spm and vocab.json",
        printable(directory));
  }
  settings = read_tokenizer_settings(directory);
  std::string source_bytes = read_part(directory, "source.spm");
  std::string target_bytes = read_part(directory, "target.spm");
  verify_checksums(directory, source_bytes, target_bytes);
  const bool same = target_bytes == source_bytes;
  source_model = std::make_unique<PieceModel>(std::move(source_bytes), directory + "/source.spm");
  if (!same) {
    target_model_file =
        std::make_unique<PieceModel>(std::move(target_bytes), directory + "/target.spm");
  }
  source_vocabulary =
      Vocabulary::parse(read_part(directory, "vocab.json"), directory + "/vocab.json");
  if (settings.separate_vocabularies) {
    target_vocabulary_file = Vocabulary::parse(read_part(directory, "target_vocab.json"),
                                               directory + "/target_vocab.json");
  }
  find_special_tokens(directory);
}

bool Tokenizer::Files::is_special(std::string_view piece) const {
  return piece == settings.eos_token || piece == settings.unk_token || piece == settings.pad_token;
}

void Tokenizer::Files::find_special_tokens(const std::string& directory) {
  const std::string where = directory + "/vocab.json";
  special.eos = required_id(source_vocabulary, settings.eos_token, where);
  special.unk = required_id(source_vocabulary, settings.unk_token, where);
  special.pad = required_id(source_vocabulary, settings.pad_token, where);
  target_unk = special.unk;
  if (settings.separate_vocabularies) {
    const std::string target_where = directory + "/target_vocab.json";
    target_unk = required_id(target_vocabulary_file, settings.unk_token, target_where);
    const int eos = required_id(target_vocabulary_file, settings.eos_token, target_where);
    if (eos != special.eos) {
      throw InputError("{}: \"{}\" has id {}, but {} in vocab.json; expected the same id in both",
                       target_where, excerpt(settings.eos_token), eos, special.eos);
    }
  }
  is_target_special.assign(to_size(target_vocabulary().size()), false);
  const auto mark = [this](const std::string& piece) {
    if (const auto id = target_vocabulary().find(piece)) {
      at(is_target_special, *id) = true;
    }
  };
  mark(settings.eos_token);
  mark(settings.unk_token);
  mark(settings.pad_token);
  for (const std::string& piece : settings.more_special_tokens) mark(piece);
}

EncodedText Tokenizer::Files::ids_of(const Side& side, std::string_view mark,
                                     std::vector<std::string> pieces) const {
  EncodedText encoded;
  encoded.pieces = std::move(pieces);
  if (!mark.empty()) encoded.pieces.emplace(encoded.pieces.begin(), mark);
  encoded.ids.reserve(encoded.pieces.size() + 1);
  for (const std::string& piece : encoded.pieces) {
    // A run of unknown characters may spell a special piece; as text, it has no id.
    const auto id = is_special(piece) ? std::nullopt : side.vocabulary.find(piece);
    if (!id) ++encoded.unknown;
    encoded.ids.push_back(id.value_or(side.unk));
  }
  encoded.ids.push_back(special.eos);
  encoded.pieces.push_back(settings.eos_token);
  return encoded;
}

EncodedText Tokenizer::Files::encode(const Side& side, std::string_view text) const {
  const std::string_view mark = language_mark(text);
  return ids_of(side, mark, side.model.cut(text.substr(mark.size())));
}

EncodedText Tokenizer::Files::sample(const Side& side, const NormalisedText& text, double sampling,
                                     RandomNumbers& random) const {
  return ids_of(side, text.language_mark, side.model.sample(text.text, sampling, random));
}

Tokenizer::Tokenizer(const std::string& directory) : files_(std::make_unique<Files>(directory)) {}
Tokenizer::~Tokenizer() = default;
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;

EncodedText Tokenizer::encode_source(std::string_view text) const {
  return files_->encode(files_->source(), text);
}

EncodedText Tokenizer::encode_target(std::string_view text) const {
  return files_->encode(files_->target(), text);
}

void Tokenizer::require_sampling(double sampling, const std::string& where) const {
  for (const auto& [file, side] :
       {std::pair{"source.spm", files_->source()}, {"target.spm", files_->target()}}) {
    const SegmentationType type = side.model.segmentation();
    if (type == SegmentationType::bpe && sampling >= 1) {
      throw InputError(
          "{}: tokenizer.sampling {}: {} is a BPE model, where it is the probability to drop a "
          "merge; use 0 (off) to below 1",
          where, sampling, file);
    }
    if (type == SegmentationType::bpe || type == SegmentationType::unigram) continue;
    throw InputError(
        "{}: tokenizer.sampling {}: {} cuts a text in one way only; expected a unigram or BPE "
        "model, or tokenizer.sampling 0",
        where, sampling, file);
  }
}

NormalisedText Tokenizer::normalise_source(std::string_view text) const {
  return normalised(files_->source().model, text);
}

NormalisedText Tokenizer::normalise_target(std::string_view text) const {
  return normalised(files_->target().model, text);
}

EncodedText Tokenizer::sample_source(const NormalisedText& text, double sampling,
                                     RandomNumbers& random) const {
  return files_->sample(files_->source(), text, sampling, random);
}

EncodedText Tokenizer::sample_target(const NormalisedText& text, double sampling,
                                     RandomNumbers& random) const {
  return files_->sample(files_->target(), text, sampling, random);
}

std::string Tokenizer::decode_target(const std::vector<int>& ids) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int id : ids) {
    const std::string& piece = target_piece(id);
    if (!at(files_->is_target_special, id)) pieces.push_back(piece);
  }
  // transformers decodes with the source model unless the vocabularies are separate.
  const PieceModel& model =
      files_->settings.separate_vocabularies ? files_->target_model() : *files_->source_model;
  std::string text = model.join(pieces);
  replace_all(text, kBlankMark, " ");
  text = strip(text);
  if (files_->settings.clean_up_spaces) clean_up_spaces(text);
  return text;
}

const std::string& Tokenizer::source_piece(int id) const {
  if (files_->source_vocabulary.holds(id)) return files_->source_vocabulary.piece(id);
  throw InputError("source id {}: outside the vocabulary; expected 0 to {}", id,
                   source_vocab_size() - 1);
}

const std::string& Tokenizer::target_piece(int id) const {
  if (files_->target_vocabulary().holds(id)) return files_->target_vocabulary().piece(id);
  throw InputError("target id {}: outside the vocabulary; expected 0 to {}", id,
                   target_vocab_size() - 1);
}

int Tokenizer::source_vocab_size() const {
  return files_->source_vocabulary.size();
}
int Tokenizer::target_vocab_size() const {
  return files_->target_vocabulary().size();
}
bool Tokenizer::separate_vocabularies() const {
  return files_->settings.separate_vocabularies;
}
SpecialTokens Tokenizer::special_tokens() const {
  return files_->special;
}

const std::vector<std::string>& tokenizer_files() {
  static const std::vector<std::string> names{
      "source.spm", "target.spm", "vocab.json", "target_vocab.json", "tokenizer_config.json",
      "SHA256SUMS"};
  return names;
}

void copy_tokenizer(const std::string& from, const std::string& to) {
  for (const std::string& name : tokenizer_files()) {
    const std::string file = from + "/" + name;
    if (file_exists(file)) write_file(to + "/" + name, read_file(file));
  }
}

}  // namespace attn
