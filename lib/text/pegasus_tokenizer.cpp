// PegasusTokenizer's file: spiece.model, and the pieces for pretraining that the class puts before
// its own. The class does not run SentencePiece but the tokenizers library's unigram model, which
// normalises and cuts a little differently: a rule replaces a whole cluster of characters, blanks
// at the end stay, words are cut one by one, and sums are of doubles.
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/excerpt.h"
#include "base/strings/utf8.h"
#include "text/pieces/charsmap.h"
#include "text/pieces/piece_trie.h"
#include "text/pieces/sentencepiece_check.h"
#include "text/sentences/icu_boundaries.h"
#include "text/tokenizer_kind.h"

namespace attn {
namespace {

constexpr std::string_view kWordMark = "▁";  // U+2581
constexpr double kUnknownLoss = 10;          // below the least likely piece
constexpr std::size_t kLongCluster = 6;      // bytes; no rule is looked up for such

/// A unigram model (Kudo 2018) over the class's list of pieces, in which a later piece of the same
/// text stands for an earlier one.
class PegasusPieces {
 public:
  struct Piece {
    std::string text;
    double score = 0;
  };

  explicit PegasusPieces(std::vector<Piece> pieces) : pieces_(std::move(pieces)) {
    for (std::size_t i = 0; i < pieces_.size(); ++i) ids_[pieces_[i].text] = to_int(i);
    for (const auto& [text, id] : ids_) trie_.add(text, id);
    for (const Piece& piece : pieces_) least_ = std::min(least_, piece.score);
  }

  int size() const { return to_int(pieces_.size()); }
  const std::string& text(int id) const { return at(pieces_, id).text; }
  double score(int id) const { return at(pieces_, id).score; }
  std::optional<int> find(std::string_view text) const {
    const auto found = ids_.find(text);
    return found == ids_.end() ? std::nullopt : std::optional(found->second);
  }

  /// Appends the pieces of a word, the likeliest; a run of unknown characters, and of the piece
  /// `unknown` where the text spells it, is one.
  void cut(std::string_view word, int unknown, std::vector<std::string>& pieces) const;

 private:
  struct Best {
    double score = 0;  ///< of the best cut of this prefix
    std::size_t begin = 0;
    bool reached = false;
    bool unknown = false;
  };

  std::vector<Piece> pieces_;
  std::unordered_map<std::string_view, int> ids_;
  PieceTrie trie_;
  double least_ = 0;
};

void PegasusPieces::cut(std::string_view word, int unknown,
                        std::vector<std::string>& pieces) const {
  std::vector<Best> best(word.size() + 1);
  const auto offer = [&](std::size_t begin, std::size_t end, double score, bool is_unknown) {
    const double total = score + best[begin].score;
    if (!best[end].reached || total > best[end].score) best[end] = {total, begin, true, is_unknown};
  };
  for (std::size_t begin = 0; begin < word.size();) {
    const std::size_t character = decode_code_point(word.substr(begin)).length;
    bool covered = false;
    trie_.each_prefix(word.substr(begin), [&](std::size_t length, int id) {
      offer(begin, begin + length, score(id), id == unknown);
      covered = covered || length == character;
    });
    if (!covered) offer(begin, begin + character, least_ - kUnknownLoss, true);
    begin += character;
  }
  const std::size_t first = pieces.size();
  bool after_unknown = false;
  for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
    std::string piece(word.substr(best[end].begin, end - best[end].begin));
    if (best[end].unknown && after_unknown) {
      pieces.back().insert(0, piece);
    } else {
      pieces.push_back(std::move(piece));
    }
    after_unknown = best[end].unknown;
  }
  std::reverse(pieces.begin() + to_index(first), pieces.end());
}

/// The text as the model's rules write it, with single blanks.
std::string normalised_text(const std::optional<Charsmap>& rules, std::string_view text) {
  std::string out;
  const auto append = [&](std::string_view part) {
    for (const char c : part) {
      if (c != ' ' || !out.ends_with(' ')) out += c;
    }
  };
  if (!rules) {
    for (const char c : text) append(c == '\n' ? " " : std::string_view(&c, 1));
    return out;
  }
  std::size_t begin = 0;
  for (const std::size_t end : icu_boundaries(text, TextPart::character)) {
    const std::string_view cluster = text.substr(begin, end - begin);
    begin = end;
    if (cluster.size() < kLongCluster) {
      if (const auto whole = rules->shortest(cluster)) {
        append(*whole);
        continue;
      }
    }
    for (std::size_t i = 0; i < cluster.size();) {
      const std::string_view rest = cluster.substr(i);
      const std::string_view character = rest.substr(0, decode_code_point(rest).length);
      append(rules->shortest(character).value_or(character));
      i += character.size();
    }
  }
  return out;
}

class PegasusTokenizer : public TokenizerKind {
 public:
  explicit PegasusTokenizer(const std::string& directory)
      : settings_(read_tokenizer_settings(directory)),
        bytes_(read_part(directory, "spiece.model")) {
    const std::string where = directory + "/spiece.model";
    const SentencePieceModel model = check_sentencepiece_model(bytes_, where);
    if (model.segmentation != SegmentationType::unigram) {
      throw InputError("{}: found no unigram model; expected one, as PegasusTokenizer reads",
                       where);
    }
    if (!model.charsmap.empty()) rules_.emplace(model.charsmap);
    pieces_ = std::make_unique<PegasusPieces>(all_pieces(model));
    find_special_tokens(where);
  }

  EncodedText encode(TextSide, std::string_view text) const override {
    EncodedText encoded;
    std::string marked = normalised_text(rules_, text);
    replace_all(marked, " ", kWordMark);
    if (!marked.empty() && !marked.starts_with(kWordMark)) marked.insert(0, kWordMark);
    for (std::size_t begin = 0; begin < marked.size();) {
      const std::size_t end = std::min(marked.find(kWordMark, begin + 1), marked.size());
      const std::string_view word = std::string_view(marked).substr(begin, end - begin);
      pieces_->cut(word, special_.unk, encoded.pieces);
      begin = end;
    }
    for (const std::string& piece : encoded.pieces) {
      const int id = pieces_->find(piece).value_or(special_.unk);
      if (id == special_.unk) ++encoded.unknown;
      encoded.ids.push_back(id);
    }
    encoded.ids.push_back(special_.eos);
    encoded.pieces.push_back(settings_.eos_token);
    return encoded;
  }

  std::string decode(const std::vector<int>& ids) const override {
    std::string text;
    bool first = true;
    for (const int id : ids) {
      if (at(is_special_, id)) continue;
      std::string piece = pieces_->text(id);
      replace_all(piece, kWordMark, first ? "" : " ");
      first = false;
      text += piece;
    }
    if (settings_.clean_up_spaces) clean_up_spaces(text);
    return text;
  }

  const std::string& piece(TextSide, int id) const override { return pieces_->text(id); }
  int vocab_size(TextSide) const override { return pieces_->size(); }
  SpecialTokens special_tokens() const override { return special_; }

 private:
  int offset() const { return settings_.offset.value_or(kOffset); }
  std::string unused_piece(int i) const { return fmt::format("<unk_{}>", i); }

  /// Padding, end, the two masks and <unk_2>, <unk_3> … stand before all but two of the model's.
  std::vector<PegasusPieces::Piece> all_pieces(const SentencePieceModel& model) const {
    std::vector<PegasusPieces::Piece> pieces{{settings_.pad_token, 0}, {settings_.eos_token, 0}};
    const auto mask = settings_.named_or("mask_token", "<mask_1>");
    const auto mask_sent = settings_.named_or("mask_token_sent", "<mask_2>");
    if (mask) pieces.push_back({*mask, 0});
    if (mask_sent && mask_sent != mask) pieces.push_back({*mask_sent, 0});
    for (int i = 2; i < offset(); ++i) pieces.push_back({unused_piece(i), kUnusedScore});
    for (std::size_t i = 2; i < model.pieces.size(); ++i) {
      pieces.push_back({std::string(model.pieces[i].text), double{model.pieces[i].score}});
    }
    return pieces;
  }

  void find_special_tokens(const std::string& where) {
    special_.unk = unknown_id(where);
    special_.eos = *pieces_->find(settings_.eos_token);
    special_.pad = *pieces_->find(settings_.pad_token);
    is_special_.assign(to_size(pieces_->size()), false);
    const auto mark = [this](const std::string& piece) {
      if (const auto id = pieces_->find(piece)) at(is_special_, *id) = true;
    };
    for (const int id : {special_.unk, special_.eos, special_.pad}) at(is_special_, id) = true;
    for (const std::string& piece : settings_.more_special_tokens) mark(piece);
    if (const auto mask = settings_.named_or("mask_token", "<mask_2>")) mark(*mask);
    if (const auto mask = settings_.named_or("mask_token_sent", "<mask_1>")) mark(*mask);
    for (int i = 2; i < offset(); ++i) mark(unused_piece(i));
  }

  /// The class looks for the unknown piece behind the first one, with a score of 0.
  int unknown_id(const std::string& where) const {
    for (int id = 1; id < pieces_->size(); ++id) {
      if (pieces_->text(id) == settings_.unk_token && pieces_->score(id) == 0) return id;
    }
    throw InputError("{}: the special piece \"{}\" is missing; expected it with a score of 0",
                     where, excerpt(settings_.unk_token));
  }

  static constexpr int kOffset = 103;
  static constexpr double kUnusedScore = -100;

  TokenizerSettings settings_;
  std::string bytes_;
  std::optional<Charsmap> rules_;
  std::unique_ptr<const PegasusPieces> pieces_;
  SpecialTokens special_;
  std::vector<bool> is_special_;  ///< [V]
};

}  // namespace

std::unique_ptr<const TokenizerKind> pegasus_tokenizer(const std::string& directory) {
  return std::make_unique<PegasusTokenizer>(directory);
}

}  // namespace attn
