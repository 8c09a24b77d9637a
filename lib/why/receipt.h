// The receipt of a written word: items that sum to its logit (direct logit attribution with frozen
// norms; Kobayashi et al. 2021 linearize norms in the same way).
//
// logit_t(word) = E[word] · h_t + b, where h_t went through many norms. Each norm divides by its
// row's σ_t. With σ_t fixed at the value of this pass, the logit is linear in everything that was
// added to the residual stream. Instead of carrying items forward, the row of the output table is
// carried backward: u = E[word]; through a norm u ← (g ⊙ u − mean(g ⊙ u)) / σ_t. An item that was
// added at some point adds item · u to the logit, with u as it is at that point.
#pragma once

#include <span>
#include <vector>

#include "config/attention_site.h"
#include "why/nd_array.h"
#include "why/trace.h"

namespace attn {

/// The items of T written words. L decoder layers, H heads, S source tokens; the keys of `self` are
/// the positions of the decoder's input.
struct Receipt {
  NdArray token;                ///< [T] the embedding of the token read at this step
  NdArray position;             ///< [T] its position embedding
  NdArray self;                 ///< [T, L, H, T] decoder self-attention
  NdArray cross;                ///< [T, L, H, S] cross-attention
  NdArray self_out_bias;        ///< [T, L] bias of the output projection
  NdArray cross_out_bias;       ///< [T, L]
  NdArray ffn;                  ///< [T, L] the whole feed-forward, with its biases
  NdArray norm_bias;            ///< [T, L, 3] of the norms after self, cross and feed-forward
  NdArray embedding_norm_bias;  ///< [T]; empty if the model does not norm its embeddings
  NdArray final_norm_bias;      ///< [T]
  NdArray output_bias;          ///< [T] final_logits_bias
  NdArray total;                ///< [T] the sum of all items
  NdArray logit;                ///< [T] logit of the word, or its difference from the foil's logit
};

/// The words that a receipt is for: one per step, and foils to compare them with.
struct ReceiptWords {
  std::span<const int> words;
  std::span<const int> foils = {};  ///< [T]; empty: the word's own logit
};

/// Computes the items of logit(word), or of logit(word) − logit(foil), at each step. Throws
/// std::logic_error in debug builds if the items do not sum to the logit within 1e-5 of their size.
Receipt make_receipt(const Transformer& model, const Trace& trace, const ReceiptWords& words);

/// A block of decoder attention.
struct DecoderBlock {
  AttentionSite site = AttentionSite::cross;
  Index layer = 0;
};

/// Returns the rows [T, D] that make_receipt() carries back, as they are where the block adds its
/// output to the residual stream: whatever it adds in row t adds its dot product with row t to the
/// logit of step t.
Matrix carried_rows(const Transformer& model, const Trace& trace, const ReceiptWords& words,
                    const DecoderBlock& block);

}  // namespace attn
