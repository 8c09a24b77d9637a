// Subword regularisation (Kudo 2018) and BPE-dropout (Provilkov et al. 2020): the training text,
// cut anew at random for each epoch, so that the model sees many cuts of a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/corpus.h"

namespace attn {

struct SubwordSamplingSettings {
  double sampling = 0;         ///< tokenizer.sampling
  std::uint64_t seed = 1;      ///< train.seed
  std::size_t max_tokens = 0;  ///< of a side; at least that of the best cuts
  int language = -1;           ///< the mark of sources that begin with none; -1: none
};

/// The pairs of a corpus as text that is ready to be cut. Read-only after it is made.
class SubwordSampledText {
 public:
  /// `best` is what make_corpus made of `text`. `tokenizer` can be sampled from
  /// (Tokenizer::require_sampling) and outlives this.
  SubwordSampledText(const ParallelText& text, const Corpus& best, const Tokenizer& tokenizer,
              const SubwordSamplingSettings& settings);

  /// The pairs of `best`, in its order, as epoch `epoch` cuts them. A sentence's cut depends on
  /// seed, epoch, side and line alone. One whose cut has more than max_tokens keeps its best cut
  /// for that epoch: leaving it out would train on other pairs in each epoch.
  Corpus tokenize(const Corpus& best, std::uint64_t epoch) const;

  std::size_t max_side_tokens() const { return max_side_tokens_; }  ///< of any side in any epoch, at most

 private:
  struct Pair {
    NormalizedText source;
    NormalizedText target;
  };

  RandomGenerator random(const char* side, std::uint32_t line, std::uint64_t epoch) const;

  const Tokenizer& tokenizer_;
  SubwordSamplingSettings settings_;
  std::vector<Pair> pairs_;
  std::size_t max_side_tokens_ = 0;
};

}  // namespace attn
