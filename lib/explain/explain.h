// One head from words to words: every matrix that attention's formula mentions, as the model
// computed it.
#pragma once

#include "model/transformer.h"
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

}  // namespace attn
