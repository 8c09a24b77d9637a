// Attention rollout: which inputs contributed to a state, through all layers.
//
// Abnar and Zuidema (2020), "Quantifying Attention Flow in Transformers": half of a layer's output
// is its input, through the residual, and half is what its attention gathered, with the heads
// averaged. Over the layers this gives
//
//   R₀ = I,   R_l = ½ A_l R_{l−1} + ½ R_{l−1}
//
// The paper covers the encoder only. In the decoder a state mixes two inputs, decoder tokens and
// source tokens, and passes two residuals per layer. Let D_l [L, L] be its share of the decoder's
// input tokens and C_l [L, S] its share of the source tokens, with D₀ = I and C₀ = 0. Layer l
// computes
//
//   self-attention    D ← ½ A_self D + ½ D         C ← ½ A_self C + ½ C
//   cross-attention   D ← ½ D                      C ← ½ C + ½ A_cross R
//
// where R is the rollout of the whole encoder, because every decoder layer reads the encoder's last
// layer. The rows of D and C together always sum to 1, and those of C alone to 1 − 2⁻ⁿ after n
// layers.
#pragma once

#include "analysis/weight_matrix.h"
#include "record/attention_record.h"

namespace attn {

/// Returns R of the encoder, [S, S]: row i holds the shares of the source tokens in state i and
/// sums to 1.
WeightMatrix encoder_rollout(const AttentionMaps& encoder_self);

/// Returns C of the last decoder layer divided by its row sums, [L, S]: row t holds the shares of
/// the source tokens in the state that wrote token t. The maps must be of one record, with as many
/// layers of self-attention as of cross-attention.
WeightMatrix cross_rollout(const AttentionRecord& record, const HypothesisRecord& hypothesis);

}  // namespace attn
