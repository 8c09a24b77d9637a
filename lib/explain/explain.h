// One head from words to words: every matrix that attention's formula mentions, as the model
// computed it.
// Sources: explain_head.cpp, compare_attention.cpp, meaning.cpp.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "record/attention_record.h"
#include "record/explanation.h"

namespace attn {

/// Which head of which hypothesis, and which of its queries the arithmetic follows.
struct ExplainedHead {
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  int head = 0;
  int query = 0;
  std::size_t hypothesis = 0;
};

/// Runs the model once more over the record's ids, under an observer, and tells the chosen head's
/// way step by step: tokens, embedding, fused projection, Q, K and V, scores, scaling, mask,
/// softmax, weighted sum, heads side by side, output projection, residual and norm. The rows
/// between the heads, queries, keys, values and outputs are the forward pass's own, to the bit;
/// scores and weights are computed from them by lib/paper, in double. InputError where the choice
/// names what is not there, or where the sentence is empty.
Explanation explain_head(const Transformer& model, const AttentionRecord& record,
                         const ExplainedHead& choice);

/// The same for a blackboard, of the one query and as one step: the scores of its keys, softmax,
/// the first columns of the values and their weighted sum.
Explanation explain_single_query(const Transformer& model, const AttentionRecord& record,
                                 const ExplainedHead& choice);

// The query that tells most about a head.

/// A query that shows what the head of `choice` does (its own query is not read): of all words
/// proper, the one that gives most of its weight to one other word. A decoder's row is the step
/// that writes its word. 0 where no word looks at another.
int most_informative_query(const AttentionRecord& record, const ExplainedHead& choice);

// What one changes and what stays the same: the comparisons that a lesson on attention makes.

/// Two sentences of the same words in another order.
struct WordOrder {
  TokenSequence first;
  TokenSequence second;
};

/// Four comparisons on one sentence and its translation:
///   where Q, K and V come from in the three kinds, with shapes and this head's maps;
///   one head as a small product of its own and as a column block of the fused product;
///   the weights with and without division by √head_dim;
///   the encoder's vectors of `order`'s words with and without positions: without them, a
///   sentence and its permutation have the same vectors (self-attention does not see order).
/// `choice.kind` is ignored. InputError as in explain_head().
Explanation compare_attention(const Transformer& model, const AttentionRecord& record,
                              const ExplainedHead& choice, const WordOrder& order);

// How one word gets several meanings: its vectors start out equal and part as context flows in.

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
