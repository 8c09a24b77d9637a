// How one word gets several meanings: its vectors start out equal and part as context flows in.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "record/explanation.h"

namespace attn {

/// A word to follow: how it reads, and its ids (without the end symbol) as the tokenizer cuts it.
struct FollowedWord {
  std::string text;
  std::vector<int> ids;
};

/// Encodes each sentence by itself, finds every occurrence of the word in them, and tells the
/// cosine of each pair of occurrences in the embedding table, with positions, and after each
/// encoder layer. A word of several pieces counts by the mean of their vectors. InputError where
/// the word occurs less than twice in all, or a vector is not finite.
Explanation explain_meaning(const Transformer& model, const std::vector<TokenSequence>& sentences,
                            const FollowedWord& word);

}  // namespace attn
