// Attention rollout: which inputs a state was made from, through all layers.
//
// Abnar and Zuidema (2020), "Quantifying Attention Flow in Transformers": a layer's output is half
// its input, through the residual, and half what its attention gathered, with the heads averaged.
// Through the layers that multiplies up:
//
//   R₀ = I,   R_l = ½ A_l R_{l−1} + ½ R_{l−1}
//
// The paper has an encoder alone. In the decoder a state mixes two inputs, decoder tokens and
// source tokens, and passes two residuals a layer. With D_l [L, L] its share of the decoder's input
// tokens, C_l [L, S] its share of the source tokens, D₀ = I and C₀ = 0, layer l does
//
//   self-attention    D ← ½ A_self D + ½ D         C ← ½ A_self C + ½ C
//   cross-attention   D ← ½ D                      C ← ½ C + ½ A_cross R
//
// where R is the whole encoder's rollout, because every decoder layer reads the encoder's last
// layer. Rows of D and C together sum to 1 throughout; C's alone to 1 − 2⁻ⁿ after n layers.
#pragma once

#include "analysis/weight_matrix.h"
#include "record/attention_record.h"

namespace attn {

/// R of the encoder, [S, S]: row i, the shares of the source tokens in state i. Rows sum to 1.
WeightMatrix encoder_rollout(const AttentionMaps& encoder_self);

/// C of the last decoder layer over its row sum, [L, S]: row t, the shares of the source tokens in
/// the state that wrote token t. Rows sum to 1. The maps are of one record, with as many layers of
/// self- as of cross-attention.
WeightMatrix cross_rollout(const AttentionRecord& record, const HypothesisRecord& hypothesis);

}  // namespace attn
