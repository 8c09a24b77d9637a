#include "text/sentencepiece/byte_pairs.h"

#include <queue>
#include <unordered_map>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/cut_pieces.h"

namespace attn {

/// The merges of one text.
class SentencePieceBpe::MergeQueue {
 public:
  MergeQueue(const SentencePieceBpe& pairs, std::string_view text) : model_(pairs.model_), text_(text) {
    for (std::size_t begin = 0; begin < text.size(); begin += symbols_.back().size) {
      Symbol symbol;
      symbol.begin = begin;
      pairs.user_defined_.each_prefix(text.substr(begin), [&](std::size_t length, int) {
        symbol.size = length;
        symbol.frozen = true;
      });
      if (!symbol.frozen) symbol.size = decode_code_point(text.substr(begin)).length;
      symbol.previous = symbols_.size() - 1;  // kNone before the first
      symbol.next = symbols_.size() + 1;
      symbols_.push_back(symbol);
    }
    if (!symbols_.empty()) symbols_.back().next = kNone;
    for (std::size_t i = 1; i < symbols_.size(); ++i) offer(i - 1, i);
  }

  void run(double dropout, RandomGenerator& random) {
    while (!agenda_.empty()) {
      const Merge merge = agenda_.top();
      agenda_.pop();
      Symbol& left = symbols_[merge.left];
      Symbol& right = symbols_[merge.right];
      // One of them has been merged with another since.
      if (left.size == 0 || right.size == 0 || left.size + right.size != merge.size) continue;
      if (dropout > 0 && random.uniform() < dropout) continue;
      left.size = merge.size;
      left.next = right.next;
      right.size = 0;
      if (left.next != kNone) symbols_[left.next].previous = merge.left;
      offer(left.previous, merge.left);
      offer(merge.left, left.next);
    }
  }

  std::vector<std::string> pieces() const {
    std::vector<SegmentedPiece> cut;
    for (std::size_t i = 0; i < symbols_.size(); i = symbols_[i].next) {
      add(text_.substr(symbols_[i].begin, symbols_[i].size), cut);
    }
    return expand_unknown_pieces(cut, model_.byte_fallback);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Symbol {
    std::size_t begin = 0;
    std::size_t size = 0;  ///< 0: it is a part of another now
    std::size_t previous = kNone;
    std::size_t next = kNone;
    bool frozen = false;
  };
  struct Merge {
    float score;
    std::size_t left;
    std::size_t right;
    std::size_t size;  ///< of both together
    /// Best score last, as a heap wants it; of equal ones the leftmost.
    bool operator<(const Merge& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };

  /// The ordinary piece of this text; null where there is none.
  const SentencePieceEntry* find(std::string_view piece) const {
    const auto found = model_.index.find(piece);
    if (found == model_.index.end()) return nullptr;
    const SentencePieceEntry& entry = at(model_.pieces, found->second);
    const bool ordinary = entry.type == PieceType::normal ||
                          entry.type == PieceType::user_defined || entry.type == PieceType::unused;
    return ordinary ? &entry : nullptr;
  }

  void offer(std::size_t left, std::size_t right) {
    if (left == kNone || right == kNone) return;
    const Symbol& one = symbols_[left];
    const Symbol& other = symbols_[right];
    if (one.frozen || other.frozen) return;
    const std::string_view both = text_.substr(one.begin, one.size + other.size);
    const SentencePieceEntry* piece = find(both);
    if (piece == nullptr) return;
    agenda_.push({piece->score, left, right, both.size()});
    if (piece->type == PieceType::unused) left_part_[both] = one.size;
  }

  /// Unused pieces are steps on the way to others; where one is left, its parts are the pieces.
  void add(std::string_view text, std::vector<SegmentedPiece>& cut) const {
    const SentencePieceEntry* piece = find(text);
    const auto parts = left_part_.find(text);
    if (piece != nullptr && piece->type == PieceType::unused && parts != left_part_.end()) {
      add(text.substr(0, parts->second), cut);
      add(text.substr(parts->second), cut);
    } else {
      cut.push_back({text, piece == nullptr});
    }
  }

  const SentencePieceModel& model_;
  std::string_view text_;
  std::vector<Symbol> symbols_;
  std::priority_queue<Merge> agenda_;
  std::unordered_map<std::string_view, std::size_t> left_part_;  ///< of unused pieces, in bytes
};

SentencePieceBpe::SentencePieceBpe(const SentencePieceModel& model) : model_(model) {
  for (const SentencePieceEntry& piece : model_.pieces) {
    if (piece.type == PieceType::user_defined) user_defined_.add(piece.text, 0);
  }
}

std::vector<std::string> SentencePieceBpe::sample(std::string_view text, double dropout,
                                           RandomGenerator& random) const {
  MergeQueue merging(*this, text);
  merging.run(dropout, random);
  return merging.pieces();
}

}  // namespace attn
