// Cuts normalised text into the likeliest pieces of a unigram model.
//
// The library can do this, but two reasons speak for an own version: it builds an index that takes
// most of the time of starting the program, and Debian's 0.1.97 adds scores in mixed precision, so
// that equally likely cuts ("0" "00" and "00" "0") come out differently from the SentencePiece that
// transformers uses today, which adds floats.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece_check.h"

namespace attn {

/// Kudo 2018, "Subword Regularization": the Viterbi search for the best segmentation.
class Unigram {
 public:
  explicit Unigram(SentencePieceModel model);

  /// The pieces of `text`, which is normalised and valid UTF-8. What no piece covers is one piece a
  /// run, or the byte pieces of each of its characters where the model has them.
  std::vector<std::string> cut(std::string_view text) const;

 private:
  struct Best;  ///< the best cut of a prefix of the text

  void extend(std::string_view text, std::size_t begin, std::vector<Best>& best) const;

  SentencePieceModel model_;
  std::vector<float> scores_;  ///< by id; user-defined pieces always win
  std::size_t longest_ = 1;    ///< bytes of the longest piece
  float unknown_score_ = 0;
};

}  // namespace attn
