#include "text/sentencepiece/segmentation.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "text/sentencepiece/cut_pieces.h"

namespace attn {
namespace {

constexpr float kUnknownPenalty = 10;  // below the least likely piece; SentencePiece's own number
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
void SentencePieceUnigram::each_piece(std::string_view text, std::size_t begin, Offer&& offer) const {
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
    float score = 0;  ///< of the best cut of this prefix
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

/// Going forward: the weights of all pieces that end at each place.
struct SentencePieceUnigram::Lattice {
  static constexpr std::size_t kNone = std::string_view::npos;
  struct Step {
    Edge edge;
    double weight = 0;         ///< ln Σ exp(alpha · score) over the cuts that end in this edge
    std::size_t next = kNone;  ///< another one that ends at the same place
  };
  struct LatticePosition {
    double largest = -std::numeric_limits<double>::infinity();  ///< of its steps' weights
    double sum = 0;                                             ///< Σ exp(weight − largest)
    std::size_t first = kNone;                                  ///< of its steps
    double weight() const { return largest + std::log(sum); }
  };
  std::vector<Step> steps;
  std::vector<LatticePosition> places;  ///< one a byte, and the text's end
};

SentencePieceUnigram::Lattice SentencePieceUnigram::lattice(std::string_view text, double alpha) const {
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

}  // namespace attn
