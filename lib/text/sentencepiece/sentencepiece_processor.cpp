#include "text/sentencepiece/sentencepiece_processor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/normalizer.h"
#include "text/sentencepiece/segmentation.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

/// Returns the user-defined pieces, which are matched as they are and never part of others.
PieceTrie user_defined_of(const SentencePieceModel& model) {
  PieceTrie trie;
  for (const SentencePieceEntry& piece : model.pieces) {
    if (piece.type == PieceType::user_defined) trie.add(piece.text, 0);
  }
  return trie;
}

void replace_blank_marks(std::string_view piece, std::string& out) {
  for (std::size_t mark = piece.find(kSpaceSymbol); mark != piece.npos;
       mark = piece.find(kSpaceSymbol)) {
    out += piece.substr(0, mark);
    out += ' ';
    piece.remove_prefix(mark + kSpaceSymbol.size());
  }
  out += piece;
}

}  // namespace

struct SentencePieceProcessor::Parts {
  Parts(std::string file, const std::string& where)
      : bytes(std::move(file)),
        model(parse_sentencepiece_model(bytes, where)),
        user_defined(user_defined_of(model)),
        normaliser(model.normaliser, model.treat_whitespace_as_suffix, user_defined) {
    if (!model.denormaliser.charsmap.empty()) {
      denormaliser.emplace(model.denormaliser, false, PieceTrie());
    }
    if (model.segmentation == SegmentationType::unigram) unigram.emplace(model);
    if (model.segmentation == SegmentationType::bpe) pairs.emplace(model);
  }

  std::string bytes;  ///< of the file; the members below may keep views of it
  SentencePieceModel model;
  PieceTrie user_defined;
  SentencePieceNormalizer normaliser;
  std::optional<SentencePieceNormalizer> denormaliser;
  std::optional<SentencePieceUnigram> unigram;
  std::optional<SentencePieceBpe> pairs;

  PieceType type_of(std::string_view piece) const {
    const auto found = model.index.find(piece);
    return found == model.index.end() ? PieceType::unknown : at(model.pieces, found->second).type;
  }

  /// Returns words between spaces, or characters and user-defined pieces.
  std::vector<SegmentedPiece> parts_of(std::string_view text) const {
    std::vector<SegmentedPiece> cut;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t length = model.segmentation == SegmentationType::word
                                     ? word_length(text.substr(begin))
                                     : character_length(text.substr(begin));
      const std::string_view part = text.substr(begin, length);
      cut.push_back({part, type_of(part) == PieceType::unknown});
      begin += length;
    }
    return cut;
  }

  std::size_t word_length(std::string_view text) const {
    if (!model.treat_whitespace_as_suffix) return std::min(text.find(kSpaceSymbol, 1), text.size());
    const std::size_t blank = text.find(kSpaceSymbol);
    return blank == text.npos ? text.size() : blank + kSpaceSymbol.size();
  }

  std::size_t character_length(std::string_view text) const {
    std::size_t length = decode_code_point(text).length;
    user_defined.each_prefix(text, [&](std::size_t longest, int) { length = longest; });
    return length;
  }
};

SentencePieceProcessor::SentencePieceProcessor(std::string bytes, const std::string& where)
    : parts_(std::make_unique<Parts>(std::move(bytes), where)) {}

SentencePieceProcessor::~SentencePieceProcessor() = default;

SegmentationType SentencePieceProcessor::segmentation() const {
  return parts_->model.segmentation;
}

std::vector<std::string> SentencePieceProcessor::encode(std::string_view text) const {
  const std::string normalised = normalise(text);
  if (parts_->unigram) return parts_->unigram->encode(normalised);
  RandomGenerator unused(0, "", 0);  // dropout is 0, so the generator is not used
  if (parts_->pairs) return parts_->pairs->sample(normalised, 0, unused);
  return expand_unknown_pieces(parts_->parts_of(normalised), parts_->model.byte_fallback);
}

std::string SentencePieceProcessor::normalise(std::string_view text) const {
  return parts_->normaliser.normalise(text);
}

std::vector<std::string> SentencePieceProcessor::sample(std::string_view normalised,
                                                        double sampling,
                                                        RandomGenerator& random) const {
  if (parts_->pairs) return parts_->pairs->sample(normalised, sampling, random);
  return parts_->unigram.value().sample(normalised, sampling, random);
}

std::string SentencePieceProcessor::join(const std::vector<std::string>& pieces) const {
  const NormalizerSpec& rules = parts_->model.normaliser;
  const bool drops_blank = rules.add_dummy_prefix || rules.remove_extra_whitespaces;
  std::string text, bytes;
  bool at_begin = true;
  // Consecutive bytes are decoded as characters; each invalid byte becomes U+FFFD.
  const auto add_bytes = [&] {
    for (std::string_view left = bytes; !left.empty();) {
      const CodePoint c = decode_code_point(left);
      const std::size_t length = c.valid ? c.length : 1;
      text += c.valid ? left.substr(0, length) : kReplacement;
      left.remove_prefix(length);
    }
    bytes.clear();
  };
  for (const std::string& piece : pieces) {
    const PieceType type = parts_->type_of(piece);
    if (type == PieceType::byte) {
      bytes += static_cast<char>(byte_value(piece));
      continue;
    }
    add_bytes();
    at_begin = at_begin && text.empty();
    if (type == PieceType::control) continue;
    if (type == PieceType::unknown) {
      text += parts_->model.index.contains(piece) ? parts_->model.unknown_surface : piece;
      continue;
    }
    std::string_view rest = piece;
    if (at_begin && drops_blank && rest.starts_with(kSpaceSymbol)) {
      rest.remove_prefix(kSpaceSymbol.size());
      at_begin = rules.remove_extra_whitespaces;
    }
    replace_blank_marks(rest, text);
  }
  add_bytes();
  return parts_->denormaliser ? parts_->denormaliser->normalise(text) : text;
}

}  // namespace attn
