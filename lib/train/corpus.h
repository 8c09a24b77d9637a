// The training text: parallel files as token ids, the batches of an epoch, and subword sampling,
// which tokenizes the text anew in each epoch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/experiment.h"
#include "text/tokenizer.h"

namespace attn {

/// Both sides' lines, as many on each.
struct ParallelText {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::size_t controls = 0;  ///< control characters that were replaced by U+FFFD
};

/// Reads two files line by line. SystemError where one cannot be read; InputError where they differ
/// in lines (both counts), are empty, or hold invalid UTF-8 (the first line with it).
ParallelText read_parallel(const ParallelFiles& files);

/// The same of the two files' bytes.
ParallelText parse_parallel(std::string_view source, std::string_view target,
                            const ParallelFiles& files);

/// One language's sentences as ids, one after another.
class TokenizedSentences {
 public:
  void add(std::span<const int> ids);
  std::size_t size() const { return offsets_.size() - 1; }
  std::size_t length(std::size_t i) const { return offsets_[i + 1] - offsets_[i]; }
  std::span<const int> operator[](std::size_t i) const {
    return {ids_.data() + offsets_[i], length(i)};
  }

 private:
  std::vector<int> ids_;
  std::vector<std::size_t> offsets_{0};
};

/// Pairs to train on; every sentence ends in </s> and has at least one piece before it.
struct Corpus {
  TokenizedSentences source;
  TokenizedSentences target;
  std::vector<std::uint32_t> lines;  ///< of the text, from 0: which one each pair is
  std::size_t empty = 0;             ///< pairs skipped because a side has no piece
  std::size_t too_long = 0;          ///< pairs skipped because a side has more than max_tokens

  std::size_t size() const { return source.size(); }
};

/// What a tokenizer makes of one line of both sides.
struct TokenizedPair {
  std::vector<int> source;
  std::vector<int> target;
};

/// take(i, cut(i)) for each i below `count`: cut on the threads, take in order.
void tokenize_pairs(std::size_t count, const std::function<TokenizedPair(std::size_t)>& cut,
                    const std::function<void(std::size_t, const TokenizedPair&)>& take);

/// Tokens of a side beyond which a pair is left out.
std::size_t max_side_tokens(const ModelConfig& model, const TrainConfig& train);

/// `languages` stand around the texts. A side that has nothing but the tokenizer's own tokens is
/// empty.
Corpus make_corpus(const ParallelText& text, const Tokenizer& tokenizer, std::size_t max_tokens,
                   const LanguageChoice& languages = {});

// Which sentences make a batch, and in which order batches come.

/// The sentences of one batch, as indices into a corpus.
using BatchPlan = std::vector<std::uint32_t>;

/// The batches of one epoch: sentences of like length together (they cost the attention the same,
/// and a batch is cut where sentences × longest would pass `batch_tokens`), in an order that
/// depends on seed and epoch alone. Every pair occurs once.
std::vector<BatchPlan> plan_epoch(const Corpus& corpus, std::uint64_t batch_tokens,
                                  std::uint64_t seed, std::uint64_t epoch);

/// Sentences in order of length, cut in the same way: for validation.
std::vector<BatchPlan> plan_by_length(const Corpus& corpus, std::uint64_t batch_tokens);

// Subword regularisation (Kudo 2018) and BPE-dropout (Provilkov et al. 2020): the training text,
// cut anew at random for each epoch, so that the model sees many cuts of a word.

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

  std::size_t max_side_tokens() const {
    return max_side_tokens_;
  }  ///< of any side in any epoch, at most

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
