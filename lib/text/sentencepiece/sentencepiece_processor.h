// A validated SentencePiece file: text to pieces and back with the same results as the library,
// which is used for training only.
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
  /// `bytes` is the whole file. Throws InputError, beginning with `where`, if it is damaged.
  SentencePieceProcessor(std::string bytes, const std::string& where);
  ~SentencePieceProcessor();
  SentencePieceProcessor(const SentencePieceProcessor&) = delete;
  SentencePieceProcessor& operator=(const SentencePieceProcessor&) = delete;

  SegmentationType segmentation() const;

  /// Splits a clean text into pieces.
  std::vector<std::string> encode(std::string_view text) const;

  /// Normalizes a clean text as the model sees it, with ▁ for spaces.
  std::string normalise(std::string_view text) const;

  /// Samples one segmentation of the result of normalise(), with SentencePieceUnigram::sample or
  /// SentencePieceBpe::sample.
  std::vector<std::string> sample(std::string_view normalised, double sampling,
                                  RandomGenerator& random) const;

  /// Joins pieces to a text. A piece that the model does not contain is copied unchanged, with its
  /// ▁.
  std::string join(const std::vector<std::string>& pieces) const;

 private:
  struct Parts;
  std::unique_ptr<const Parts> parts_;
};

}  // namespace attn
