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

/// The lines of both sides, equally many on each.
struct ParallelText {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::size_t controls = 0;             ///< control characters that were replaced by U+FFFD
  std::vector<std::string> notes = {};  ///< how files that are not plain lines were read
};

/// Reads two files line by line, or the source of one test set and the first reference of another
/// (text/test_set); both may be in one file. Throws SystemError if one cannot be read; InputError
/// if their line counts differ (naming both), or if they are empty or hold invalid UTF-8 (naming
/// the first such line).
ParallelText read_parallel(const ParallelFiles& files);

/// Same for the content of the two files.
ParallelText parse_parallel(std::string_view source, std::string_view target,
                            const ParallelFiles& files);

/// The sentences of one language as ids, stored back to back.
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

/// Sentence pairs for training; every sentence ends in </s> and has at least one token before it.
struct Corpus {
  TokenizedSentences source;
  TokenizedSentences target;
  std::vector<std::uint32_t> lines;  ///< line of each pair in the text, from 0
  std::size_t empty = 0;             ///< pairs skipped because a side has no token
  std::size_t too_long = 0;  ///< pairs skipped because a side has more than max_tokens tokens

  std::size_t size() const { return source.size(); }
};

/// A tokenized line of both sides.
struct TokenizedPair {
  std::vector<int> source;
  std::vector<int> target;
};

/// Calls take(i, cut(i)) for each i below `count`: `cut` runs on the threads, `take` in order.
void tokenize_pairs(std::size_t count, const std::function<TokenizedPair(std::size_t)>& cut,
                    const std::function<void(std::size_t, const TokenizedPair&)>& take);

/// Returns the number of tokens per side beyond which a pair is left out.
std::size_t max_side_tokens(const ModelConfig& model, const TrainConfig& train);

/// Adds the tokens of `languages` to the texts. A side with nothing but the tokenizer's own tokens
/// counts as empty.
Corpus make_corpus(const ParallelText& text, const Tokenizer& tokenizer, std::size_t max_tokens,
                   const LanguageChoice& languages = {});

// Batches of sentences and their order.

/// The sentences of one batch, as indices into a corpus.
using BatchPlan = std::vector<std::uint32_t>;

/// Returns the batches of one epoch. Sentences of similar length go together, because attention
/// then costs the same for each, and a batch ends before sentences × longest exceeds
/// `batch_tokens`. The order depends only on seed and epoch, and every pair occurs once.
std::vector<BatchPlan> plan_epoch(const Corpus& corpus, std::uint64_t batch_tokens,
                                  std::uint64_t seed, std::uint64_t epoch);

/// Batches the sentences in order of length with the same limit, for validation.
std::vector<BatchPlan> plan_by_length(const Corpus& corpus, std::uint64_t batch_tokens);

// Subword regularization (Kudo 2018) and BPE-dropout (Provilkov et al. 2020): each epoch tokenizes
// the training text anew at random, so that the model sees many segmentations of a word.

struct SubwordSamplingSettings {
  double sampling = 0;         ///< tokenizer.sampling
  std::uint64_t seed = 1;      ///< train.seed
  std::size_t max_tokens = 0;  ///< per side; at least the maximum over the best segmentations
  int language = -1;           ///< language token for sources that begin with none; −1: none
};

/// A corpus as text, ready to be tokenized at random. Read-only once constructed.
class SubwordSampledText {
 public:
  /// `best` must be the result of make_corpus() for `text`. `tokenizer` must support sampling
  /// (Tokenizer::require_sampling) and outlive this object.
  SubwordSampledText(const ParallelText& text, const Corpus& best, const Tokenizer& tokenizer,
                     const SubwordSamplingSettings& settings);

  /// Returns the pairs of `best`, in the same order, as tokenized for `epoch`. A sentence's
  /// segmentation depends only on seed, epoch, side and line. If it exceeds max_tokens, the
  /// sentence keeps its best segmentation for that epoch; dropping it would make epochs train on
  /// different pairs.
  Corpus tokenize(const Corpus& best, std::uint64_t epoch) const;

  /// Returns an upper bound on the tokens of a side in any epoch.
  std::size_t max_side_tokens() const { return max_side_tokens_; }

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
