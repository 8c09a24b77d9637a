// Tokenizers for sentencepiece.bpe.model. Four classes use that file name, and tokenizer_class
// tells which one applies. fairseq puts four tokens of its own before the model's pieces and
// language tokens after them.
#include <algorithm>
#include <map>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/pipeline/pipeline.h"
#include "text/sentencepiece/sentencepiece_processor.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr const char* kModelFile = "sentencepiece.bpe.model";
constexpr const char* kPieceBegin = "▁";  // U+2581
constexpr int kUnknown = 3;

/// Returns <s>, <pad>, </s>, <unk>, and the model's pieces without its first three.
std::vector<ScoredPiece> fairseq_pieces(const SentencePieceModel& model,
                                        const TokenizerSettings& settings) {
  std::vector<ScoredPiece> pieces{{settings.token_or("bos_token", "<s>").value_or("<s>"), 0},
                                  {settings.pad_token, 0},
                                  {settings.eos_token, 0},
                                  {settings.unk_token, 0}};
  for (std::size_t i = 3; i < model.pieces.size(); ++i) {
    pieces.push_back({std::string(model.pieces[i].text), double{model.pieces[i].score}});
  }
  return pieces;
}

/// Returns the language tokens and then <mask>, unless the settings give their ids to other tokens.
std::vector<AddedToken> tokens_behind(const std::vector<std::string>& texts,
                                      const std::string& mask, int first,
                                      const TokenizerSettings& settings) {
  std::map<int, AddedToken> by_id;
  for (std::size_t i = 0; i <= texts.size(); ++i) {
    AddedToken token;
    token.text = i < texts.size() ? texts[i] : mask;
    token.id = first + to_int(i);
    token.normalized = false;
    token.special = true;
    token.lstrip = token.typed_as_text = i == texts.size();
    by_id[token.id] = std::move(token);
  }
  for (const AddedToken& token : settings.added_tokens) by_id[token.id] = token;
  std::vector<AddedToken> tokens;
  for (auto& [id, token] : by_id) tokens.push_back(std::move(token));
  return tokens;
}

/// Derives BPE merges from pieces as the tokenizers library does: all ways to merge each piece, in
/// order of the pieces' ids and then by the length of the left half.
BpeMerges merges_of(const SentencePieceModel& model, const Vocabulary& vocabulary) {
  BpeMerges merges;
  for (const SentencePieceEntry& piece : model.pieces) {
    for (std::size_t end = 1; end < piece.text.size(); ++end) {
      constexpr unsigned kContinues = 0x80, kTopBits = 0xC0;
      if ((static_cast<unsigned char>(piece.text[end]) & kTopBits) == kContinues) continue;
      const std::string_view left = piece.text.substr(0, end), right = piece.text.substr(end);
      if (!model.index.contains(left) || !model.index.contains(right)) continue;
      merges.add(left, right, vocabulary, [] { return std::string(kModelFile); });
    }
  }
  return merges;
}

Pipeline byte_pairs(const SentencePieceModel& model, const std::vector<ScoredPiece>& pieces,
                    const std::string& where) {
  if (model.segmentation != SegmentationType::bpe) {
    throw InputError("{}: found no BPE model; expected one, as NllbTokenizer reads", where);
  }
  std::vector<std::pair<std::string, int>> ids;
  for (std::size_t i = 0; i < pieces.size(); ++i) ids.emplace_back(pieces[i].text, to_int(i));
  auto vocabulary = std::make_shared<const Vocabulary>(Vocabulary::of(std::move(ids), where));
  UnknownHandling unknown;
  unknown.unknown = kUnknown;
  unknown.fuse_unk = true;
  Pipeline p;
  BpeMerges merges = merges_of(model, *vocabulary);
  p.subword_model = bpe_model(std::move(vocabulary), std::move(merges), unknown);
  return p;
}

Pipeline unigram(const SentencePieceModel& model, std::vector<ScoredPiece> pieces,
                 const std::vector<AddedToken>& behind, const std::string& where) {
  if (model.segmentation != SegmentationType::unigram) {
    throw InputError("{}: found no unigram model; expected one, as MBartTokenizer reads", where);
  }
  // In these classes language tokens are also pieces of the model, with score 0 (probability 1).
  for (const AddedToken& token : behind) {
    if (token.id == std::ssize(pieces)) pieces.push_back({token.text, 0});
  }
  Pipeline p;
  p.subword_model = unigram_model(std::move(pieces), kUnknown, false);
  return p;
}

void set_words(Pipeline& p, const SentencePieceModel& model,
               const MultilingualTokenizerClass& known) {
  const bool older = known.tokenizer_class == "MBartTokenizer";
  if (older) {
    p.pre_tokenizers.push_back(
        split_pre_tokenizer(whitespace_pattern(), SplitBehavior::removed, false));
  }
  if (!older && !model.normaliser.charsmap.empty()) {
    p.normalizers.push_back(precompiled_normalizer(std::string(model.normaliser.charsmap)));
  }
  if (known.tokenizer_class == "MBart50Tokenizer" || !p.normalizers.empty()) {
    p.normalizers.push_back(replace_normalizer(*supported_regex(" {2,}"), " "));
  }
  p.pre_tokenizers.push_back(metaspace_pre_tokenizer(kPieceBegin, PrependScheme::always, true));
  p.decoders = {metaspace_decoder(kPieceBegin, PrependScheme::always)};
}

std::unique_ptr<const TokenizerKind> fairseq_tokenizer(const std::string& directory,
                                                       const TokenizerSettings& settings,
                                                       const MultilingualTokenizerClass& known) {
  const std::string where = directory + "/" + kModelFile;
  const std::string bytes = read_tokenizer_file(directory, kModelFile);
  const SentencePieceModel model = parse_sentencepiece_model(bytes, where);
  const std::vector<ScoredPiece> pieces = fairseq_pieces(model, settings);
  const std::string mask = settings.token_or("mask_token", "<mask>").value_or("<mask>");
  const auto behind = tokens_behind(codes_of(known), mask, to_int(pieces.size()), settings);
  Pipeline p = known.tokenizer_class == "NllbTokenizer" ? byte_pairs(model, pieces, where)
                                                        : unigram(model, pieces, behind, where);
  for (const ScoredPiece& piece : pieces) p.pieces.push_back(piece.text);
  p.special = {2, kUnknown, 1};
  p.is_special.assign(p.pieces.size(), false);
  for (std::size_t id = 0; id <= to_size(kUnknown); ++id) p.is_special[id] = true;
  set_words(p, model, known);
  add_tokens(p, behind, directory + ": added tokens");
  p.clean_up_spaces = settings.clean_up_spaces;
  add_language_tokens(p, settings, directory + "/tokenizer_config.json");
  return pipeline_tokenizer(std::move(p));
}

// --- M2M100 ---

/// Splits with SentencePiece and takes the ids from vocab.json.
class NumberedPieces : public SubwordModel {
 public:
  NumberedPieces(std::shared_ptr<const SentencePieceProcessor> model, Vocabulary vocabulary,
                 int unknown)
      : model_(std::move(model)), vocabulary_(std::move(vocabulary)), unknown_(unknown) {}

  void tokenize(std::string_view word, EncodedText& out) const override {
    for (std::string& piece : model_->encode(word)) {
      const std::optional<int> id = vocabulary_.find(piece);
      if (!id) ++out.unknown;
      out.ids.push_back(id.value_or(unknown_));
      out.pieces.push_back(std::move(piece));
    }
  }

 private:
  std::shared_ptr<const SentencePieceProcessor> model_;
  Vocabulary vocabulary_;
  int unknown_;
};

/// Adds the language tokens and eight filler words that only pad the embedding table.
void add_m2m100_languages(Pipeline& p, const TokenizerSettings& settings,
                          const MultilingualTokenizerClass& known) {
  constexpr int kMadeUpWords = 8;
  for (const std::string& code : codes_of(known, settings.language_codes)) {
    p.pieces.push_back(token_of(known, code));
  }
  for (int i = 0; i < kMadeUpWords; ++i) {
    p.ids_without_piece.insert(to_int(p.pieces.size()));
    p.pieces.push_back(fmt::format("madeupword{:04}", i));
  }
  p.is_special.resize(p.pieces.size(), true);
}

/// Decodes like the class: every run of pieces between special tokens is joined on its own.
TokenDecoder joining_around(const std::string& unknown,
                            std::shared_ptr<const SentencePieceProcessor> model) {
  return [unknown, model = std::move(model)](std::vector<std::string> pieces) {
    std::string text;
    std::vector<std::string> part;
    for (std::string& piece : pieces) {
      if (piece != unknown) {
        part.push_back(std::move(piece));
        continue;
      }
      text += model->join(part) + unknown;
      part.clear();
    }
    return std::vector<std::string>{strip(text + model->join(part))};
  };
}

std::unique_ptr<const TokenizerKind> m2m100_tokenizer(const std::string& directory,
                                                      const TokenizerSettings& settings,
                                                      const MultilingualTokenizerClass& known) {
  const std::string where = directory + "/vocab.json";
  auto model = std::make_shared<const SentencePieceProcessor>(
      read_tokenizer_file(directory, kModelFile), directory + "/" + kModelFile);
  Vocabulary vocabulary = Vocabulary::parse(read_tokenizer_file(directory, "vocab.json"), where);
  Pipeline p;
  p.special = {required_id(vocabulary, settings.eos_token, where),
               required_id(vocabulary, settings.unk_token, where),
               required_id(vocabulary, settings.pad_token, where)};
  for (int id = 0; id < vocabulary.size(); ++id) p.pieces.push_back(vocabulary.piece(id));
  p.is_special.assign(p.pieces.size(), false);
  for (const int id : {p.special.eos, p.special.unk, p.special.pad}) at(p.is_special, id) = true;
  for (const std::string& piece : settings.more_special_tokens) {
    if (const auto id = vocabulary.find(piece)) at(p.is_special, *id) = true;
  }
  p.subword_model = std::make_unique<NumberedPieces>(model, std::move(vocabulary), p.special.unk);
  add_m2m100_languages(p, settings, known);
  std::vector<AddedToken> added = settings.added_tokens;
  add_tokens(p, added, directory + ": added tokens");
  p.decoders = {joining_around(settings.unk_token, model)};
  add_language_tokens(p, settings, directory + "/tokenizer_config.json");
  return pipeline_tokenizer(std::move(p));
}

}  // namespace

std::unique_ptr<const TokenizerKind> fairseq_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  const MultilingualTokenizerClass* known =
      find_multilingual_tokenizer_class(settings.tokenizer_class);
  if (known == nullptr) {
    throw InputError(
        "{}/tokenizer_config.json: tokenizer_class is {}; expected {}, which read {} each in its "
        "own way",
        directory,
        settings.tokenizer_class.empty() ? "missing"
                                         : "\"" + excerpt(settings.tokenizer_class) + "\"",
        multilingual_tokenizer_class_names(), kModelFile);
  }
  if (known->tokenizer_class == "M2M100Tokenizer") {
    return m2m100_tokenizer(directory, settings, *known);
  }
  return fairseq_tokenizer(directory, settings, *known);
}

}  // namespace attn
