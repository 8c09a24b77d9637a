// What else a step might have written: the likeliest pieces by the model's own softmax.
#pragma once

#include <span>

#include "compute/tensor.h"
#include "record/attention_record.h"

namespace attn {

/// How many of them a record that goes into a file holds of each step.
inline constexpr int recorded_alternatives = 10;

/// The `count` likeliest pieces of each row of logits [L, V] (all V where that is fewer), those of
/// one logit in the order of their ids, and where produced[t] stands in row t. Names are left to
/// the caller. The logits are finite (log_probabilities() has seen to it); produced has L ids below
/// V.
Alternatives likeliest_tokens(const ConstMatrixRef& logits, std::span<const int> produced,
                              int count);

}  // namespace attn
