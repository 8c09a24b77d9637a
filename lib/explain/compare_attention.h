// What one changes and what stays the same: the comparisons that a lesson on attention makes.
#pragma once

#include "explain/explain.h"

namespace attn {

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

}  // namespace attn
