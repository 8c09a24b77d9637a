// One SentencePiece file, checked and ready: text to pieces and pieces to text, as the library does
// it, which is asked for training alone.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "text/sentencepiece/sentencepiece_model.h"

namespace attn {

class SentencePieceProcessor {
 public:
  /// `bytes` are the whole file. InputError, beginning with `where`, where it is damaged.
  SentencePieceProcessor(std::string bytes, const std::string& where);
  ~SentencePieceProcessor();
  SentencePieceProcessor(const SentencePieceProcessor&) = delete;
  SentencePieceProcessor& operator=(const SentencePieceProcessor&) = delete;

  SegmentationType segmentation() const;

  /// The pieces of a clean text.
  std::vector<std::string> encode(std::string_view text) const;

  /// A clean text as the model sees it, ▁ for its blanks.
  std::string normalise(std::string_view text) const;

  /// One cut of what normalise() gave, drawn at random: Unigram::sample or
  /// SentencePieceBpe::sample.
  std::vector<std::string> sample(std::string_view normalised, double sampling,
                                  RandomGenerator& random) const;

  /// The text of the pieces, in which a piece that the model lacks stands as it is (its ▁ too).
  std::string join(const std::vector<std::string>& pieces) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace attn
