// MarianTokenizer: SentencePiece models split a text, and vocab.json gives the ids.
#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "base/strings/utf8.h"
#include "text/checksums.h"
#include "text/sentencepiece/sentencepiece_processor.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

/// Returns the leading >>xxx<< of a text, or "".
std::string_view language_tag(std::string_view text) {
  const std::size_t end = text.starts_with(">>") ? text.find("<<") : text.npos;
  return end == text.npos ? "" : text.substr(0, end + 2);
}

/// The model and the vocabulary of one language.
struct Side {
  const SentencePieceProcessor& model;
  const Vocabulary& vocabulary;
  int unk;
};

class MarianTokenizer : public TokenizerKind {
 public:
  explicit MarianTokenizer(const std::string& directory);

  EncodedText encode(TextSide side, std::string_view text, int language) const override;
  std::string decode(const std::vector<int>& ids) const override;
  const std::string& piece(TextSide side, int id) const override {
    const Vocabulary& vocabulary = side_of(side).vocabulary;
    return vocabulary.holds(id) ? vocabulary.piece(id) : at(more_pieces_, id - vocabulary.size());
  }
  int vocab_size(TextSide side) const override {
    return side_of(side).vocabulary.size() + to_int(more_pieces_.size());
  }
  SpecialTokens special_tokens() const override { return special_; }
  const Languages& languages() const override { return languages_; }
  bool separate_vocabularies() const override { return settings_.separate_vocabularies; }

  void require_sampling(double sampling, const std::string& where) const override;
  NormalizedText normalise(TextSide side, std::string_view text) const override;
  EncodedText sample(TextSide side, const NormalizedText& text, double sampling,
                     RandomGenerator& random) const override;

 private:
  void find_special_tokens(const std::string& directory);
  void find_added_tokens(const std::string& directory);
  void find_languages();
  bool is_special(std::string_view piece) const;

  const Vocabulary& target_vocabulary() const {
    return settings_.separate_vocabularies ? target_vocabulary_file_ : source_vocabulary_;
  }
  const SentencePieceProcessor& target_model() const {
    return target_model_file_ ? *target_model_file_ : *source_model_;
  }
  Side side_of(TextSide side) const {
    if (side == TextSide::source) return {*source_model_, source_vocabulary_, special_.unk};
    return {target_model(), target_vocabulary(), target_unk_};
  }
  void add_ids(const Side& side, std::string_view mark, const std::vector<std::string>& pieces,
               EncodedText& encoded) const;
  void add_end(EncodedText& encoded) const;

  TokenizerSettings settings_;
  SpecialTokens special_;
  Vocabulary source_vocabulary_;
  Vocabulary target_vocabulary_file_;    ///< only with separate vocabularies
  std::vector<bool> is_target_special_;  ///< [V] of the target
  AddedTokens added_;                    ///< for both languages
  Languages languages_;                  ///< tokens like >>deu<<
  /// Added tokens that vocab.json lacks; their ids follow its own.
  std::vector<std::string> more_pieces_;
  int target_unk_ = 0;
  std::unique_ptr<const SentencePieceProcessor> source_model_;
  /// Empty if it equals the source model.
  std::unique_ptr<const SentencePieceProcessor> target_model_file_;
};

MarianTokenizer::MarianTokenizer(const std::string& directory) {
  settings_ = read_tokenizer_settings(directory);
  std::string source_bytes = read_tokenizer_file(directory, "source.spm");
  std::string target_bytes = read_tokenizer_file(directory, "target.spm");
  verify_checksums(directory, source_bytes, target_bytes);
  const bool same = target_bytes == source_bytes;
  source_model_ =
      std::make_unique<SentencePieceProcessor>(std::move(source_bytes), directory + "/source.spm");
  if (!same) {
    target_model_file_ = std::make_unique<SentencePieceProcessor>(std::move(target_bytes),
                                                                  directory + "/target.spm");
  }
  source_vocabulary_ =
      Vocabulary::parse(read_tokenizer_file(directory, "vocab.json"), directory + "/vocab.json");
  if (settings_.separate_vocabularies) {
    target_vocabulary_file_ = Vocabulary::parse(read_tokenizer_file(directory, "target_vocab.json"),
                                                directory + "/target_vocab.json");
  }
  find_special_tokens(directory);
  find_added_tokens(directory);
  find_languages();
}

/// Finds the added tokens: some follow the vocabulary, others are part of it, with their own ids.
void MarianTokenizer::find_added_tokens(const std::string& directory) {
  const std::string where = directory + ": added tokens";
  const auto size = to_size(source_vocabulary_.size());
  for (const AddedToken& token : settings_.added_tokens) {
    if (token.single_word) {
      throw InputError(
          "{}: \"{}\" is a single_word, which this tokenizer does not know; expected false", where,
          excerpt(token.text));
    }
    const bool in_vocabulary = source_vocabulary_.holds(token.id);
    const bool known = to_size(token.id) < size + more_pieces_.size();
    const std::string* taken = known ? &piece(TextSide::source, token.id) : nullptr;
    check_added_token(token, size + more_pieces_.size(), taken, where);
    if (settings_.separate_vocabularies && !in_vocabulary) {
      throw InputError(
          "{}: \"{}\" is not in vocab.json; expected it there, because the vocabularies are "
          "separate",
          where, excerpt(token.text));
    }
    if (!known) more_pieces_.push_back(token.text);
    if (settings_.separate_vocabularies) continue;
    is_target_special_.resize(size + more_pieces_.size());
    if (token.special) at(is_target_special_, token.id) = true;
  }
  added_ = AddedTokens(settings_.added_tokens);
}

void MarianTokenizer::find_languages() {
  for (int id = 0; id < source_vocabulary_.size(); ++id) {
    const std::string_view piece = source_vocabulary_.piece(id);
    const bool mark = piece.size() > 4 && piece.ends_with("<<") && language_tag(piece) == piece;
    if (mark) languages_.tokens.push_back({std::string(piece.substr(2, piece.size() - 4)), id});
  }
  if (!languages_.tokens.empty())
    languages_.target_language_method = TargetLanguageMethod::source_language_tag;
}

bool MarianTokenizer::is_special(std::string_view piece) const {
  return piece == settings_.eos_token || piece == settings_.unk_token ||
         piece == settings_.pad_token;
}

void MarianTokenizer::find_special_tokens(const std::string& directory) {
  const std::string where = directory + "/vocab.json";
  special_.eos = required_id(source_vocabulary_, settings_.eos_token, where);
  special_.unk = required_id(source_vocabulary_, settings_.unk_token, where);
  special_.pad = required_id(source_vocabulary_, settings_.pad_token, where);
  target_unk_ = special_.unk;
  if (settings_.separate_vocabularies) {
    const std::string target_where = directory + "/target_vocab.json";
    target_unk_ = required_id(target_vocabulary_file_, settings_.unk_token, target_where);
    const int eos = required_id(target_vocabulary_file_, settings_.eos_token, target_where);
    if (eos != special_.eos) {
      throw InputError("{}: \"{}\" has id {}, but {} in vocab.json; expected the same id in both",
                       target_where, excerpt(settings_.eos_token), eos, special_.eos);
    }
  }
  is_target_special_.assign(to_size(target_vocabulary().size()), false);
  const auto mark = [this](const std::string& piece) {
    if (const auto id = target_vocabulary().find(piece)) {
      at(is_target_special_, *id) = true;
    }
  };
  mark(settings_.eos_token);
  mark(settings_.unk_token);
  mark(settings_.pad_token);
  for (const std::string& piece : settings_.more_special_tokens) mark(piece);
}

void MarianTokenizer::add_ids(const Side& side, std::string_view mark,
                              const std::vector<std::string>& pieces, EncodedText& encoded) const {
  const auto add = [&](std::string_view piece) {
    // A run of unknown characters may spell a special token; as text, it has no id.
    const auto id = is_special(piece) ? std::nullopt : side.vocabulary.find(piece);
    if (!id) ++encoded.unknown;
    encoded.ids.push_back(id.value_or(side.unk));
    encoded.pieces.emplace_back(piece);
  };
  if (!mark.empty()) add(mark);
  for (const std::string& piece : pieces) add(piece);
}

void MarianTokenizer::add_end(EncodedText& encoded) const {
  encoded.ids.push_back(special_.eos);
  encoded.pieces.push_back(settings_.eos_token);
}

EncodedText MarianTokenizer::encode(TextSide side, std::string_view text, int language) const {
  const Side cutter = side_of(side);
  EncodedText encoded;
  if (language >= 0 && language_tag(text).empty()) {
    encoded.ids.push_back(language);
    encoded.pieces.push_back(piece(side, language));
  }
  for (const AddedTokens::Part& part : added_.split(text)) {
    if (part.token) {
      encoded.ids.push_back(*part.token);
      encoded.pieces.push_back(piece(side, *part.token));
      continue;
    }
    const std::string_view mark = language_tag(part.text);
    add_ids(cutter, mark, cutter.model.encode(part.text.substr(mark.size())), encoded);
  }
  add_end(encoded);
  return encoded;
}

NormalizedText MarianTokenizer::normalise(TextSide side, std::string_view text) const {
  const std::string_view mark = language_tag(text);
  return {std::string(mark), side_of(side).model.normalise(text.substr(mark.size()))};
}

EncodedText MarianTokenizer::sample(TextSide side, const NormalizedText& text, double sampling,
                                    RandomGenerator& random) const {
  const Side cutter = side_of(side);
  EncodedText encoded;
  add_ids(cutter, text.language_tag, cutter.model.sample(text.text, sampling, random), encoded);
  add_end(encoded);
  return encoded;
}

void MarianTokenizer::require_sampling(double sampling, const std::string& where) const {
  if (!more_pieces_.empty()) {
    throw InputError(
        "{}: tokenizer.sampling {}: the tokenizer has added tokens (such as {}), which cannot be "
        "split at random; expected tokenizer.sampling 0",
        where, sampling, excerpt(more_pieces_.front()));
  }
  for (const auto& [file, side] : {std::pair{"source.spm", side_of(TextSide::source)},
                                   {"target.spm", side_of(TextSide::target)}}) {
    const SegmentationType type = side.model.segmentation();
    if (type == SegmentationType::bpe && sampling >= 1) {
      throw InputError(
          "{}: tokenizer.sampling {}: {} is a BPE model, where this is the probability of dropping "
          "a merge; use 0 (off) to below 1",
          where, sampling, file);
    }
    if (type == SegmentationType::bpe || type == SegmentationType::unigram) continue;
    throw InputError(
        "{}: tokenizer.sampling {}: {} has only one segmentation of a text; expected a unigram or "
        "BPE model, or tokenizer.sampling 0",
        where, sampling, file);
  }
}

std::string MarianTokenizer::decode(const std::vector<int>& ids) const {
  std::vector<std::string> pieces;
  pieces.reserve(ids.size());
  for (const int id : ids) {
    if (!at(is_target_special_, id)) pieces.push_back(piece(TextSide::target, id));
  }
  // transformers decodes with the source model unless the vocabularies are separate.
  const SentencePieceProcessor& model =
      settings_.separate_vocabularies ? target_model() : *source_model_;
  std::string text = model.join(pieces);
  replace_all(text, kSpaceSymbol, " ");
  text = strip(text);
  if (settings_.clean_up_spaces) clean_up_spaces(text);
  return text;
}

}  // namespace

std::unique_ptr<const TokenizerKind> marian_tokenizer(const std::string& directory) {
  return std::make_unique<MarianTokenizer>(directory);
}

}  // namespace attn
