// Splits normalized text into pieces of a SentencePiece model: the best segmentation, or a random
// one.
//
// The SentencePiece library can do this too, with two drawbacks: it builds an index that takes most
// of the program's start time, and Debian's 0.1.97 adds scores in mixed precision. Equally likely
// segmentations ("0" "00" and "00" "0") then differ from those of the SentencePiece that
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

/// The lattice of all segmentations (Kudo 2018, "Subword Regularization"). Texts must be normalized
/// and valid UTF-8. Characters that no piece covers are unknown; a run of them becomes one piece,
/// or byte pieces if the model has them.
class SentencePieceUnigram {
 public:
  /// Keeps no reference to `model`.
  explicit SentencePieceUnigram(const SentencePieceModel& model);

  /// Returns the segmentation with the largest sum of scores, by Viterbi search.
  std::vector<std::string> encode(std::string_view text) const;

  /// Samples a segmentation x from P(x) ∝ exp(alpha · Σ score of its pieces) over the whole lattice
  /// (section 3.2 of the paper with l → ∞; SentencePiece's SampleEncode with nbest_size −1). The
  /// forward pass sums over all segmentations of each prefix, and the backward pass samples one
  /// piece after another. `alpha` must be at least 0, where all segmentations are equally likely. 1
  /// samples from the model itself, and larger values approach encode().
  std::vector<std::string> sample(std::string_view text, double alpha,
                                  RandomGenerator& random) const;

  /// Returns ln Σ exp(alpha · Σ score) over the whole lattice, the normalizer of these
  /// probabilities.
  double log_sum(std::string_view text, double alpha) const;

 private:
  struct Lattice;
  /// A piece in the lattice, from `begin` to the position where the edge ends.
  struct Edge {
    std::size_t begin = 0;  ///< in bytes
    int id = 0;
    float score = 0;
  };

  /// Calls offer(end, edge) for each piece that begins at `begin`, the shortest first. If no piece
  /// is one character long, the last one is the unknown piece.
  template <typename Offer>
  void each_piece(std::string_view text, std::size_t begin, Offer&& offer) const;

  Lattice lattice(std::string_view text, double alpha) const;

  /// Follows the best edges backward from the end of the text: last(text.size()), then last(its
  /// begin), …
  template <typename Last>
  std::vector<std::string> pieces_of(std::string_view text, Last&& last) const;

  PieceTrie pieces_;           ///< the normal and user-defined pieces
  std::vector<float> scores_;  ///< by id; user-defined pieces always win
  int unknown_id_;
  float unknown_score_ = 0;
  bool byte_fallback_;
};

// Segmentation by a BPE model, optionally with dropout of merges.

/// BPE (Sennrich et al. 2016, "Neural Machine Translation of Rare Words with Subword Units"):
/// starting from single characters, the neighbors whose merged piece has the best score are
/// merged, again and again. User-defined pieces act as characters that are never merged.
class SentencePieceBpe {
 public:
  /// The model must outlive this object.
  explicit SentencePieceBpe(const SentencePieceModel& model);

  /// BPE-dropout (Provilkov et al. 2020) as in SentencePiece: each merge is skipped with
  /// probability `dropout` when it is due, and two neighbors stay apart after a skip until one of
  /// them has grown. (In the paper they may merge at a later step, so its segmentations are
  /// slightly coarser for the same dropout.) With 0 this gives the model's own segmentation and
  /// uses no random numbers.
  std::vector<std::string> sample(std::string_view text, double dropout,
                                  RandomGenerator& random) const;

 private:
  class MergeQueue;

  const SentencePieceModel& model_;
  PieceTrie user_defined_;
};

}  // namespace attn
