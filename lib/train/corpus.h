// Parallel text as training reads it: two files, a sentence a line, as ids.
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

}  // namespace attn
