#include "text/unigram.h"

#include <algorithm>
#include <cfloat>
#include <utility>

#include "base/at.h"
#include "base/utf8.h"

namespace attn {
namespace {

constexpr float kUnknownPenalty = 10;  // below the least likely piece; SentencePiece's own number
constexpr float kUserDefinedLoss = 0.1F;

}  // namespace

struct Unigram::Best {
  float score = 0;
  int id = 0;
  std::size_t begin = std::string_view::npos;  ///< of its last piece; npos: not reached
};

Unigram::Unigram(SentencePieceModel model) : model_(std::move(model)) {
  float least = FLT_MAX;
  float most = FLT_MIN;
  for (const SentencePieceEntry& piece : model_.pieces) {
    longest_ = std::max(longest_, piece.text.size());
    if (piece.type != PieceType::normal) continue;
    least = std::min(least, piece.score);
    most = std::max(most, piece.score);
  }
  unknown_score_ = least - kUnknownPenalty;
  scores_.reserve(model_.pieces.size());
  for (const SentencePieceEntry& piece : model_.pieces) {
    const bool user_defined = piece.type == PieceType::user_defined;
    const float length = static_cast<float>(piece.text.size());
    scores_.push_back(user_defined ? length * most - kUserDefinedLoss : piece.score);
  }
}

/// All pieces that begin at `begin`, whose best cut is known.
void Unigram::extend(std::string_view text, std::size_t begin, std::vector<Best>& best) const {
  const auto offer = [&](std::size_t end, float score, int id) {
    const float total = score + best[begin].score;
    if (best[end].begin == std::string_view::npos || total > best[end].score) {
      best[end] = {total, id, begin};
    }
  };
  const std::size_t character = decode_code_point(text.substr(begin)).length;
  const std::size_t most = std::min(text.size() - begin, longest_);
  bool covered = false;
  for (std::size_t length = character; length <= most;) {
    const auto found = model_.index.find(text.substr(begin, length));
    if (found != model_.index.end()) {
      const auto id = to_size(found->second);
      const PieceType type = model_.pieces[id].type;
      if (type == PieceType::normal || type == PieceType::user_defined) {
        offer(begin + length, scores_[id], found->second);
        covered = covered || length == character;
      }
    }
    if (begin + length == text.size()) break;
    length += decode_code_point(text.substr(begin + length)).length;
  }
  if (!covered) offer(begin + character, unknown_score_, model_.unknown_id);
}

std::vector<std::string> Unigram::cut(std::string_view text) const {
  std::vector<Best> best(text.size() + 1);
  for (std::size_t begin = 0; begin < text.size();) {
    extend(text, begin, best);
    begin += decode_code_point(text.substr(begin)).length;
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = text.size(); end > 0; end = best[end].begin) ends.push_back(end);
  std::vector<std::string> pieces;
  bool after_unknown = false;
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    const std::string_view piece = text.substr(best[*end].begin, *end - best[*end].begin);
    const bool unknown = best[*end].id == model_.unknown_id;
    if (unknown && model_.byte_fallback) {
      for (const char byte : piece) {
        pieces.push_back(byte_piece(static_cast<unsigned char>(byte)));
      }
    } else if (unknown && after_unknown) {
      pieces.back() += piece;
    } else {
      pieces.emplace_back(piece);
    }
    after_unknown = unknown;
  }
  return pieces;
}

}  // namespace attn
