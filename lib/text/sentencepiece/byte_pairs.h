// Cuts normalised text by a byte-pair model, whose merges may be left out at random.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/sentencepiece/piece_trie.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

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
