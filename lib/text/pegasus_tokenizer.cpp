// The tokenizer of Pegasus in its older form: spiece.model, and the pieces for pretraining that the
// class puts before its own.
#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "text/sentencepiece/sentencepiece_model.h"
#include "text/pipeline/pipeline.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr const char* kPegasusSpaceSymbol = "▁";  // U+2581
constexpr int kOffset = 103;
constexpr double kUnusedScore = -100;

std::string unused_piece(int i) {
  return fmt::format("<unk_{}>", i);
}

/// Padding, end, the two masks and <unk_2>, <unk_3> … stand before all but two of the model's.
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

/// The class looks for the unknown piece behind the first one, with a score of 0.
int unknown_id(const std::vector<ScoredPiece>& pieces, const std::string& unknown,
               const std::string& where) {
  const auto found = std::find_if(pieces.begin() + 1, pieces.end(), [&](const ScoredPiece& piece) {
    return piece.text == unknown && piece.score == 0;
  });
  if (found != pieces.end()) return to_int(found - pieces.begin());
  throw InputError("{}: the special piece \"{}\" is missing; expected it with a score of 0", where,
                   excerpt(unknown));
}

/// A later piece of the same text stands for an earlier one.
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

}  // namespace attn
