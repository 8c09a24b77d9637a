// Cuts normalised text into pieces of a unigram model: the likeliest ones, or ones drawn at random.
//
// The library can do this, but two reasons speak for an own version: it builds an index that takes
// most of the time of starting the program, and Debian's 0.1.97 adds scores in mixed precision, so
// that equally likely cuts ("0" "00" and "00" "0") come out differently from the SentencePiece that
// transformers uses today, which adds floats.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/sentencepiece/piece_trie.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

/// Kudo 2018, "Subword Regularization": the lattice of all segmentations. Both functions take text
/// that is normalised and valid UTF-8. What no piece covers is unknown, a character at a time; a
/// run of unknown characters comes out as one piece, or as byte pieces where the model has them.
class SentencePieceUnigram {
 public:
  /// Keeps nothing of `model`.
  explicit SentencePieceUnigram(const SentencePieceModel& model);

  /// The segmentation with the largest sum of scores, by Viterbi's search.
  std::vector<std::string> encode(std::string_view text) const;

  /// A segmentation x drawn from P(x) ∝ exp(alpha · Σ score of its pieces) over all of the lattice
  /// (section 3.2 of the paper with l → ∞; SentencePiece's SampleEncode with nbest_size −1): sums
  /// over all cuts of each prefix going forward, and one piece after another drawn by them going
  /// back. `alpha` is from 0 (every cut is as likely) on; 1 draws from the model itself, and the
  /// larger it is, the nearer to encode().
  std::vector<std::string> sample(std::string_view text, double alpha,
                                  RandomGenerator& random) const;

  /// ln Σ exp(alpha · Σ score) over all of the lattice: what makes those probabilities sum to 1.
  double log_sum(std::string_view text, double alpha) const;

 private:
  struct Lattice;
  /// A piece in the lattice. Its text is what lies between begin and its end.
  struct Edge {
    std::size_t begin = 0;  ///< in bytes
    int id = 0;
    float score = 0;
  };

  /// Calls offer(end, edge) for each piece that begins at `begin`, the shortest first; the unknown
  /// one last, where no piece is a character long.
  template <typename Offer>
  void each_piece(std::string_view text, std::size_t begin, Offer&& offer) const;

  Lattice lattice(std::string_view text, double alpha) const;

  /// The path that ends in last(text.size()), last(the begin of that), …
  template <typename Last>
  std::vector<std::string> pieces_of(std::string_view text, Last&& last) const;

  PieceTrie pieces_;           ///< the normal and the user-defined ones
  std::vector<float> scores_;  ///< by id; user-defined pieces always win
  int unknown_id_;
  float unknown_score_ = 0;
  bool byte_fallback_;
};

// Cuts normalised text by a byte-pair model, whose merges may be left out at random.

/// Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units": from single
/// characters on, the neighbours whose joint piece has the best score are joined, again and again.
/// Pieces that the user defined are characters of their own and join nobody.
class SentencePieceBpe {
 public:
  /// The model outlives this.
  explicit SentencePieceBpe(const SentencePieceModel& model);

  /// BPE-dropout (Provilkov et al. 2020) as SentencePiece has it: where a merge's turn comes, it is
  /// left out with probability `dropout`, and two neighbours once left out stay apart until one of
  /// them has grown. (In the paper they may join at a later step: its cuts are a little coarser for
  /// the same number.) At 0 this is the model's own cut, and draws no number.
  std::vector<std::string> sample(std::string_view text, double dropout,
                                  RandomGenerator& random) const;

 private:
  class MergeQueue;

  const SentencePieceModel& model_;
  PieceTrie user_defined_;
};

}  // namespace attn
