// Explains how one item of a receipt is computed, for explain --why.
#pragma once

#include <optional>

#include "explain/explain.h"

namespace attn {

/// Explains the item of one head of the decoder, one step (`choice.query`) and one key: weight
/// times value times W_O, dot the row that is carried back from the output table. Every number is
/// the model's own. `key` is the index of a source token, or of a token of the decoder's input;
/// without it, the key with the largest item. Throws InputError for a head of the encoder, which
/// reaches a word only through other heads, and if there is nothing to explain; UsageError for a
/// head, query or key that does not exist.
Explanation explain_receipt_item(const Transformer& model, const AttentionRecord& record,
                                 const ExplainedHead& choice, std::optional<int> key);

}  // namespace attn
