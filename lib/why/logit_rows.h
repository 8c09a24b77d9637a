// Logits of many rows, a few at a time: those of 500 steps over 250,000 tokens would take 500 MB.
#pragma once

#include <algorithm>

#include "model/transformer.h"

namespace attn {

/// Logits in memory at a time, in numbers: 16 MB.
inline constexpr Index kMostLogits = Index{1} << 22;

/// Calls f(first, logits) for the rows of `hidden` [T, D], with the logits [R, V] of rows first to
/// first + R − 1.
template <typename F>
void for_logit_rows(const Transformer& model, const ConstMatrixRef& hidden, F&& f) {
  const Index vocabulary = model.config().decoder_vocab_size;
  const Index most = std::max<Index>(1, kMostLogits / vocabulary);
  for (Index first = 0; first < hidden.rows(); first += most) {
    Matrix logits(std::min(most, hidden.rows() - first), vocabulary);
    model.logits(hidden.middleRows(first, logits.rows()), logits);
    f(first, logits);
  }
}

}  // namespace attn
