// One head step by step: every matrix in the formula of attention, as the model computed it.
// Sources: explain_head.cpp, compare_attention.cpp, meaning.cpp.
#pragma once

#include <string>
#include <vector>

#include "model/transformer.h"
#include "record/attention_record.h"
#include "record/explanation.h"

namespace attn {

/// The head and hypothesis to explain, and the query whose arithmetic is shown.
struct ExplainedHead {
  AttentionSite site = AttentionSite::cross;
  int layer = 0;
  int head = 0;
  int query = 0;
  std::size_t hypothesis = 0;
};

/// Runs the model again over the record's ids with an observer, and explains the chosen head step
/// by step: tokens, embedding, fused projection, Q, K and V, scores, scaling, mask, softmax,
/// weighted sum, concatenated heads, output projection, residual and norm. The inputs of the head,
/// queries, keys, values and outputs are bit-identical to those of the forward pass; lib/paper
/// computes the scores and weights from them in double. Throws InputError if the choice is out of
/// range or the sentence is empty.
Explanation explain_head(const Transformer& model, const AttentionRecord& record,
                         const ExplainedHead& choice);

/// Explains the single query in one step, short enough for a blackboard: the scores of its keys,
/// softmax, the first columns of the values and their weighted sum.
Explanation explain_single_query(const Transformer& model, const AttentionRecord& record,
                                 const ExplainedHead& choice);

// The choice of an informative query for a head.

/// Returns a query that shows what the head of `choice` does (`choice.query` is ignored): among all
/// words without punctuation, the one that gives the largest weight to a single other word. A
/// decoder's row is the step that writes its word. Returns 0 if no word looks at another one.
int most_informative_query(const AttentionRecord& record, const ExplainedHead& choice);

// Comparisons for a lesson on attention: one thing changes, and the rest stays the same.

/// Two sentences with the same words in a different order.
struct WordOrder {
  TokenSequence first;
  TokenSequence second;
};

/// Makes four comparisons on one sentence and its translation:
///   where Q, K and V come from at the three attention sites, with shapes and this head's maps;
///   one head as a small projection of its own and as a column block of the fused one;
///   the weights with and without division by √head_dim;
///   the encoder's vectors of the words of `order` with and without positions: without them a
///   sentence and its permutation have the same vectors (self-attention does not see order).
/// `choice.site` is ignored. Throws InputError like explain_head().
Explanation compare_attention(const Transformer& model, const AttentionRecord& record,
                              const ExplainedHead& choice, const WordOrder& order);

// The several meanings of one word: its vectors start out equal and diverge as context flows in.

/// A word to follow: its text, and its ids (without the end symbol) as tokenized.
struct FollowedWord {
  std::string text;
  std::vector<int> ids;
};

/// Encodes each sentence on its own, finds every occurrence of the word in them, and returns the
/// cosine of each pair of occurrences in the embedding table, with positions, and after each
/// encoder layer. A word of several tokens is represented by the mean of their vectors. Throws
/// InputError if the word occurs fewer than two times in total or a vector is not finite.
Explanation explain_meaning(const Transformer& model, const std::vector<TokenSequence>& sentences,
                            const FollowedWord& word);

}  // namespace attn
