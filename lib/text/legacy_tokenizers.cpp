// T5Tokenizer in its older form, spiece.model: SentencePiece's own ids, followed by the sentinels
// <extra_id_99> … <extra_id_0>.
#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "text/pipeline/pipeline.h"
#include "text/sentencepiece/sentencepiece_model.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr const char* kWordMark = "▁";  // U+2581
constexpr int kExtraIds = 100;

int id_of(const std::vector<std::string>& pieces, const std::string& piece,
          const std::string& where) {
  const auto found = std::ranges::find(pieces, piece);
  if (found != pieces.end()) return to_int(found - pieces.begin());
  throw InputError("{}: the special piece \"{}\" is missing; expected it with an id of its own",
                   where, piece);
}

}  // namespace

std::unique_ptr<const TokenizerKind> t5_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  const std::string where = directory + "/spiece.model";
  const std::string bytes = read_tokenizer_file(directory, "spiece.model");
  const SentencePieceModel model = parse_sentencepiece_model(bytes, where);
  if (model.segmentation != SegmentationType::unigram) {
    throw InputError("{}: found no unigram model; expected one, as T5Tokenizer reads", where);
  }
  Pipeline p;
  std::vector<ScoredPiece> pieces;
  for (const SentencePieceEntry& piece : model.pieces) {
    pieces.push_back({std::string(piece.text), double{piece.score}});
  }
  std::vector<AddedToken> tokens = settings.added_tokens;
  for (int i = settings.extra_ids.value_or(kExtraIds) - 1; i >= 0; --i) {
    AddedToken sentinel;
    sentinel.text = fmt::format("<extra_id_{}>", i);
    sentinel.id = to_int(std::ssize(pieces));
    sentinel.special = true;
    pieces.push_back({sentinel.text, 0});
    const bool named = std::ranges::find(tokens, sentinel.text, &AddedToken::text) != tokens.end();
    if (!named) tokens.push_back(sentinel);
  }
  std::ranges::sort(tokens, {}, &AddedToken::id);
  for (const ScoredPiece& piece : pieces) p.pieces.push_back(piece.text);
  p.special = {id_of(p.pieces, settings.eos_token, where), model.unknown_id,
               id_of(p.pieces, settings.pad_token, where)};
  p.source = p.target = {{}, {p.special.eos}};
  p.is_special.assign(p.pieces.size(), false);
  for (const int id : {p.special.unk, p.special.eos, p.special.pad}) at(p.is_special, id) = true;
  if (!model.normaliser.charsmap.empty()) {
    p.normalizers.push_back(precompiled_normalizer(std::string(model.normaliser.charsmap)));
  }
  p.pre_tokenizers = {split_pre_tokenizer(whitespace_pattern(), SplitBehavior::removed, false),
                      metaspace_pre_tokenizer(kWordMark, PrependScheme::always, true)};
  p.subword_model = unigram_model(std::move(pieces), p.special.unk, false);
  p.decoders = {metaspace_decoder(kWordMark, PrependScheme::always)};
  p.clean_up_spaces = settings.clean_up_spaces;
  add_tokens(p, tokens, directory + ": added tokens");
  return pipeline_tokenizer(std::move(p));
}

// The Pegasus tokenizer in its older form: spiece.model, and the pretraining tokens that the class
// puts before its pieces.
namespace {

constexpr const char* kPegasusSpaceSymbol = "▁";  // U+2581
constexpr int kOffset = 103;
constexpr double kUnusedScore = -100;

std::string unused_piece(int i) {
  return fmt::format("<unk_{}>", i);
}

/// Returns the padding and end tokens, the two masks and <unk_2>, <unk_3> …, followed by the
/// model's pieces without the first two.
std::vector<ScoredPiece> all_pieces(const SentencePieceModel& model,
                                    const TokenizerSettings& settings) {
  std::vector<ScoredPiece> pieces{{settings.pad_token, 0}, {settings.eos_token, 0}};
  const auto mask = settings.token_or("mask_token", "<mask_1>");
  const auto mask_sent = settings.token_or("mask_token_sent", "<mask_2>");
  if (mask) pieces.push_back({*mask, 0});
  if (mask_sent && mask_sent != mask) pieces.push_back({*mask_sent, 0});
  for (int i = 2; i < settings.offset.value_or(kOffset); ++i) {
    pieces.push_back({unused_piece(i), kUnusedScore});
  }
  for (std::size_t i = 2; i < model.pieces.size(); ++i) {
    pieces.push_back({std::string(model.pieces[i].text), double{model.pieces[i].score}});
  }
  return pieces;
}

/// The class looks for the unknown piece after the first piece, with a score of 0.
int unknown_id(const std::vector<ScoredPiece>& pieces, const std::string& unknown,
               const std::string& where) {
  const auto found = std::find_if(pieces.begin() + 1, pieces.end(), [&](const ScoredPiece& piece) {
    return piece.text == unknown && piece.score == 0;
  });
  if (found != pieces.end()) return to_int(found - pieces.begin());
  throw InputError("{}: the special piece \"{}\" is missing; expected it with a score of 0", where,
                   excerpt(unknown));
}

/// Returns the id of a piece; if several have the same text, the last one counts.
std::optional<int> last_id(const std::vector<std::string>& pieces, const std::string& piece) {
  const auto found = std::find(pieces.rbegin(), pieces.rend(), piece);
  if (found == pieces.rend()) return std::nullopt;
  return to_int(pieces.rend() - found) - 1;
}

void set_special_tokens(const TokenizerSettings& settings, Pipeline& p) {
  p.special.eos = *last_id(p.pieces, settings.eos_token);
  p.special.pad = *last_id(p.pieces, settings.pad_token);
  p.source = p.target = {{}, {p.special.eos}};
  p.is_special.assign(p.pieces.size(), false);
  const auto mark = [&](const std::string& piece) {
    if (const auto id = last_id(p.pieces, piece)) at(p.is_special, *id) = true;
  };
  for (const int id : {p.special.unk, p.special.eos, p.special.pad}) at(p.is_special, id) = true;
  for (const std::string& piece : settings.more_special_tokens) mark(piece);
  if (const auto mask = settings.token_or("mask_token", "<mask_2>")) mark(*mask);
  if (const auto mask = settings.token_or("mask_token_sent", "<mask_1>")) mark(*mask);
  for (int i = 2; i < settings.offset.value_or(kOffset); ++i) mark(unused_piece(i));
}

}  // namespace

std::unique_ptr<const TokenizerKind> pegasus_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  const std::string where = directory + "/spiece.model";
  const std::string bytes = read_tokenizer_file(directory, "spiece.model");
  const SentencePieceModel model = parse_sentencepiece_model(bytes, where);
  if (model.segmentation != SegmentationType::unigram) {
    throw InputError("{}: found no unigram model; expected one, as PegasusTokenizer reads", where);
  }
  std::vector<ScoredPiece> pieces = all_pieces(model, settings);
  Pipeline p;
  p.special.unk = unknown_id(pieces, settings.unk_token, where);
  for (const ScoredPiece& piece : pieces) p.pieces.push_back(piece.text);
  set_special_tokens(settings, p);
  p.normalizers.push_back(model.normaliser.charsmap.empty()
                              ? replace_normalizer(literal_pattern("\n"), " ")
                              : precompiled_normalizer(std::string(model.normaliser.charsmap)));
  p.normalizers.push_back(replace_normalizer(*supported_regex(" {2,}"), " "));
  p.pre_tokenizers = {metaspace_pre_tokenizer(kPegasusSpaceSymbol, PrependScheme::always, true)};
  p.subword_model = unigram_model(std::move(pieces), p.special.unk, false);
  p.decoders = {metaspace_decoder(kPegasusSpaceSymbol, PrependScheme::always)};
  p.clean_up_spaces = settings.clean_up_spaces;
  add_tokens(p, settings.added_tokens, directory + ": added tokens");
  return pipeline_tokenizer(std::move(p));
}

// The tokenizer of BART and LED in its older form: vocab.json and merges.txt.
namespace {

/// Finds the special tokens, and the first and last token of every text, as the classes do.
void set_special_tokens(const TokenizerSettings& settings, const Vocabulary& vocabulary,
                        const std::string& where, Pipeline& p) {
  const std::string begin = settings.token_or("bos_token", "<s>").value_or("<s>");
  p.special.eos = required_id(vocabulary, settings.eos_token, where);
  p.special.unk = required_id(vocabulary, settings.unk_token, where);
  p.special.pad = required_id(vocabulary, settings.pad_token, where);
  const int first =
      required_id(vocabulary, settings.token_or("cls_token", "<s>").value_or(begin), where);
  const int last = required_id(
      vocabulary, settings.token_or("sep_token", "</s>").value_or(settings.eos_token), where);
  p.source = p.target = {{first}, {last}};
  p.is_special.assign(to_size(vocabulary.size()), false);
  for (const int id : {first, last, p.special.eos, p.special.unk, p.special.pad}) {
    at(p.is_special, id) = true;
  }
  std::vector<std::string> others = settings.more_special_tokens;
  others.push_back(begin);
  if (const auto mask = settings.token_or("mask_token", "<mask>")) others.push_back(*mask);
  for (const std::string& piece : others) {
    if (const auto id = vocabulary.find(piece)) at(p.is_special, *id) = true;
  }
}

}  // namespace

std::unique_ptr<const TokenizerKind> byte_level_tokenizer(const std::string& directory) {
  const TokenizerSettings settings = read_tokenizer_settings(directory);
  const std::string where = directory + "/vocab.json";
  auto vocabulary = std::make_shared<const Vocabulary>(
      Vocabulary::parse(read_tokenizer_file(directory, "vocab.json"), where));
  BpeMerges merges(read_tokenizer_file(directory, "merges.txt"), *vocabulary,
                   directory + "/merges.txt");
  Pipeline p;
  set_special_tokens(settings, *vocabulary, where, p);
  for (int id = 0; id < vocabulary->size(); ++id) p.pieces.push_back(vocabulary->piece(id));
  add_tokens(p, settings.added_tokens, directory + ": added tokens");
  p.pre_tokenizers = {byte_level_pre_tokenizer(settings.add_prefix_space, true)};
  p.subword_model = bpe_model(std::move(vocabulary), std::move(merges), {});
  p.decoders = {byte_level_decoder()};  // the classes ignore clean_up_tokenization_spaces
  p.pieces_are_byte_level = true;
  return pipeline_tokenizer(std::move(p));
}

}  // namespace attn
