#include "text/pipeline/subword_model.h"

#include <algorithm>
#include <unordered_map>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/piece_trie.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

constexpr double kUnknownLoss = 10;  // below the score of the least likely piece

class UnigramModel : public SubwordModel {
 public:
  UnigramModel(std::vector<ScoredPiece> pieces, int unknown, bool byte_fallback)
      : pieces_(std::move(pieces)), unknown_(unknown), byte_fallback_(byte_fallback) {
    ids_.reserve(pieces_.size());
    for (std::size_t i = 0; i < pieces_.size(); ++i) ids_[pieces_[i].text] = to_int(i);
    for (const auto& [text, id] : ids_) trie_.add(text, id);
    for (const ScoredPiece& piece : pieces_) least_ = std::min(least_, piece.score);
  }

  void tokenize(std::string_view word, EncodedText& out) const override {
    for (const std::string_view piece : likeliest(word)) {
      const auto found = ids_.find(piece);
      const int id = found == ids_.end() ? unknown_ : found->second;
      if (id == unknown_ && byte_fallback_ && add_bytes(piece, out)) continue;
      if (id == unknown_) ++out.unknown;
      out.ids.push_back(id);
      out.pieces.emplace_back(piece);
    }
  }

 private:
  struct ViterbiState {
    double score = 0;  ///< of the best segmentation of this prefix
    std::size_t begin = 0;
    bool reached = false;
    bool unknown = false;
  };

  /// Viterbi search. A run of unknown characters becomes one piece, together with the unknown piece
  /// itself if the text spells it.
  std::vector<std::string_view> likeliest(std::string_view word) const {
    const std::vector<ViterbiState> best = search(word);
    std::vector<std::string_view> pieces;
    bool after_unknown = false;
    for (std::size_t end = word.size(); end > 0; end = best[end].begin) {
      const std::size_t begin = best[end].begin;
      if (best[end].unknown && after_unknown) {
        pieces.back() = word.substr(begin, end - begin + pieces.back().size());
      } else {
        pieces.push_back(word.substr(begin, end - begin));
      }
      after_unknown = best[end].unknown;
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
  }

  std::vector<ViterbiState> search(std::string_view word) const {
    std::vector<ViterbiState> best(word.size() + 1);
    const auto offer = [&](std::size_t begin, std::size_t end, double score, bool is_unknown) {
      const double total = score + best[begin].score;
      if (!best[end].reached || total > best[end].score) {
        best[end] = {total, begin, true, is_unknown};
      }
    };
    for (std::size_t begin = 0; begin < word.size();) {
      const std::size_t character = decode_code_point(word.substr(begin)).length;
      bool covered = false;
      trie_.each_prefix(word.substr(begin), [&](std::size_t length, int id) {
        offer(begin, begin + length, at(pieces_, id).score, id == unknown_);
        covered = covered || length == character;
      });
      if (!covered) offer(begin, begin + character, least_ - kUnknownLoss, true);
      begin += character;
    }
    return best;
  }

  bool add_bytes(std::string_view piece, EncodedText& out) const {
    std::vector<int> bytes;
    for (const char c : piece) {
      const auto found = ids_.find(byte_piece(byte_value(c)));
      if (found == ids_.end()) return false;
      bytes.push_back(found->second);
    }
    for (const int id : bytes) {
      out.ids.push_back(id);
      out.pieces.push_back(at(pieces_, id).text);
    }
    return true;
  }

  std::vector<ScoredPiece> pieces_;
  std::unordered_map<std::string_view, int> ids_;
  PieceTrie trie_;
  double least_ = 0;
  int unknown_;
  bool byte_fallback_;
};

}  // namespace

std::unique_ptr<const SubwordModel> unigram_model(std::vector<ScoredPiece> pieces, int unknown,
                                                  bool byte_fallback) {
  return std::make_unique<UnigramModel>(std::move(pieces), unknown, byte_fallback);
}

namespace {

class BpeModel : public SubwordModel {
 public:
  BpeModel(std::shared_ptr<const Vocabulary> vocabulary, BpeMerges merges, UnknownHandling unknown)
      : vocabulary_(std::move(vocabulary)), merges_(std::move(merges)), unknown_(unknown) {}

  void tokenize(std::string_view word, EncodedText& out) const override {
    std::vector<int> ids;
    bool after_unknown = false;
    for (std::size_t begin = 0; begin < word.size();) {
      const std::string_view character =
          word.substr(begin, decode_code_point(word.substr(begin)).length);
      begin += character.size();
      const std::optional<int> id = vocabulary_->find(character);
      // The library ignores byte pieces when it checks whether the previous character was unknown.
      if (!id && unknown_.byte_fallback && add_bytes(character, ids)) continue;
      if (id) {
        ids.push_back(*id);
      } else {
        ++out.unknown;
        const bool joined = after_unknown && unknown_.fuse_unk;
        if (unknown_.unknown && !joined) ids.push_back(*unknown_.unknown);
      }
      after_unknown = !id;
    }
    merges_.join(ids);
    for (const int id : ids) {
      out.ids.push_back(id);
      out.pieces.push_back(vocabulary_->piece(id));
    }
  }

 private:
  bool add_bytes(std::string_view character, std::vector<int>& ids) const {
    std::vector<int> bytes;
    for (const char c : character) {
      const std::optional<int> id = vocabulary_->find(byte_piece(byte_value(c)));
      if (!id) return false;
      bytes.push_back(*id);
    }
    ids.insert(ids.end(), bytes.begin(), bytes.end());
    return true;
  }

  std::shared_ptr<const Vocabulary> vocabulary_;
  BpeMerges merges_;
  UnknownHandling unknown_;
};

}  // namespace

std::unique_ptr<const SubwordModel> bpe_model(std::shared_ptr<const Vocabulary> vocabulary,
                                              BpeMerges merges, UnknownHandling unknown) {
  return std::make_unique<BpeModel>(std::move(vocabulary), std::move(merges), unknown);
}

}  // namespace attn
