#include "text/sentencepiece/segmentation.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {
namespace {

constexpr float kUnknownPenalty = 10;  // below the least likely piece; SentencePiece's own value
constexpr float kUserDefinedLoss = 0.1F;

}  // namespace

SentencePieceUnigram::SentencePieceUnigram(const SentencePieceModel& model)
    : unknown_id_(model.unknown_id), byte_fallback_(model.byte_fallback) {
  float least = FLT_MAX;
  float most = FLT_MIN;
  for (const SentencePieceEntry& piece : model.pieces) {
    if (piece.type != PieceType::normal) continue;
    least = std::min(least, piece.score);
    most = std::max(most, piece.score);
  }
  unknown_score_ = least - kUnknownPenalty;
  scores_.reserve(model.pieces.size());
  for (const SentencePieceEntry& piece : model.pieces) {
    const int id = to_int(scores_.size());
    const bool user_defined = piece.type == PieceType::user_defined;
    const float length = static_cast<float>(piece.text.size());
    scores_.push_back(user_defined ? length * most - kUserDefinedLoss : piece.score);
    if (user_defined || piece.type == PieceType::normal) pieces_.add(piece.text, id);
  }
}

template <typename Offer>
void SentencePieceUnigram::each_piece(std::string_view text, std::size_t begin,
                                      Offer&& offer) const {
  const std::size_t character = decode_code_point(text.substr(begin)).length;
  bool covered = false;
  pieces_.each_prefix(text.substr(begin), [&](std::size_t length, int id) {
    offer(begin + length, Edge{begin, id, at(scores_, id)});
    covered = covered || length == character;
  });
  if (!covered) offer(begin + character, Edge{begin, unknown_id_, unknown_score_});
}

template <typename Last>
std::vector<std::string> SentencePieceUnigram::pieces_of(std::string_view text, Last&& last) const {
  std::vector<SegmentedPiece> path;
  for (std::size_t end = text.size(); end > 0;) {
    const Edge edge = last(end);
    path.push_back({text.substr(edge.begin, end - edge.begin), edge.id == unknown_id_});
    end = edge.begin;
  }
  std::reverse(path.begin(), path.end());
  return expand_unknown_pieces(path, byte_fallback_);
}

std::vector<std::string> SentencePieceUnigram::encode(std::string_view text) const {
  struct ViterbiState {
    float score = 0;  ///< of the best segmentation of this prefix
    bool reached = false;
    Edge last;
  };
  std::vector<ViterbiState> best(text.size() + 1);
  for (std::size_t begin = 0; begin < text.size();) {
    each_piece(text, begin, [&](std::size_t end, const Edge& edge) {
      const float total = edge.score + best[begin].score;
      if (!best[end].reached || total > best[end].score) best[end] = {total, true, edge};
    });
    begin += decode_code_point(text.substr(begin)).length;
  }
  return pieces_of(text, [&](std::size_t end) { return best[end].last; });
}

/// The forward pass: the weights of all pieces that end at each position.
struct SentencePieceUnigram::Lattice {
  static constexpr std::size_t kNone = std::string_view::npos;
  struct Step {
    Edge edge;
    double weight = 0;  ///< ln Σ exp(alpha · score) over the segmentations that end in this edge
    std::size_t next = kNone;  ///< the next step that ends at the same position
  };
  struct LatticePosition {
    double largest = -std::numeric_limits<double>::infinity();  ///< of its steps' weights
    double sum = 0;                                             ///< Σ exp(weight − largest)
    std::size_t first = kNone;                                  ///< the first of its steps
    double weight() const { return largest + std::log(sum); }
  };
  std::vector<Step> steps;
  std::vector<LatticePosition> places;  ///< one per byte, and the end of the text
};

SentencePieceUnigram::Lattice SentencePieceUnigram::lattice(std::string_view text,
                                                            double alpha) const {
  Lattice lattice;
  lattice.places.resize(text.size() + 1);
  lattice.places[0] = {0.0, 1.0, Lattice::kNone};
  for (std::size_t begin = 0; begin < text.size();) {
    const double before = lattice.places[begin].weight();
    each_piece(text, begin, [&](std::size_t end, const Edge& edge) {
      Lattice::LatticePosition& place = lattice.places[end];
      const double weight = before + alpha * static_cast<double>(edge.score);
      if (weight > place.largest) {
        place.sum *= std::exp(place.largest - weight);
        place.largest = weight;
      }
      place.sum += std::exp(weight - place.largest);
      lattice.steps.push_back({edge, weight, std::exchange(place.first, lattice.steps.size())});
    });
    begin += decode_code_point(text.substr(begin)).length;
  }
  return lattice;
}

double SentencePieceUnigram::log_sum(std::string_view text, double alpha) const {
  return lattice(text, alpha).places.back().weight();
}

std::vector<std::string> SentencePieceUnigram::sample(std::string_view text, double alpha,
                                                      RandomGenerator& random) const {
  const Lattice all = lattice(text, alpha);
  return pieces_of(text, [&](std::size_t end) {
    const Lattice::LatticePosition& place = all.places[end];
    double left = random.uniform() * place.sum;
    std::size_t chosen = place.first;
    for (std::size_t i = chosen; i != Lattice::kNone && left >= 0; i = all.steps[i].next) {
      left -= std::exp(all.steps[i].weight - place.largest);
      chosen = i;
    }
    return all.steps[chosen].edge;
  });
}

/// The merges of one text.
class SentencePieceBpe::MergeQueue {
 public:
  MergeQueue(const SentencePieceBpe& pairs, std::string_view text)
      : model_(pairs.model_), text_(text) {
    for (std::size_t begin = 0; begin < text.size(); begin += symbols_.back().size) {
      Symbol symbol;
      symbol.begin = begin;
      pairs.user_defined_.each_prefix(text.substr(begin), [&](std::size_t length, int) {
        symbol.size = length;
        symbol.frozen = true;
      });
      if (!symbol.frozen) symbol.size = decode_code_point(text.substr(begin)).length;
      symbol.previous = symbols_.size() - 1;  // kNone for the first one
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
      // One of them has been merged with another symbol since.
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
    std::size_t size = 0;  ///< 0 if it is now part of another symbol
    std::size_t previous = kNone;
    std::size_t next = kNone;
    bool frozen = false;
  };
  struct Merge {
    float score;
    std::size_t left;
    std::size_t right;
    std::size_t size;  ///< of both together
    /// Heap order: the best score on top, and the leftmost among equal scores.
    bool operator<(const Merge& other) const {
      return score < other.score || (score == other.score && left > other.left);
    }
  };

  /// Returns the ordinary piece with this text, or null.
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

  /// Unused pieces are intermediate steps of merges; an unused piece in the result is split into
  /// its parts.
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
