// T5Tokenizer from its older form, spiece.model: SentencePiece's own ids, and behind the last of
// them the sentinels <extra_id_99> … <extra_id_0>.
#include <algorithm>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "text/sentencepiece/sentencepiece_model.h"
#include "text/pipeline/pipeline.h"
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

}  // namespace attn
