// Guided alignment (Garg et al. 2019, section 3.3): a loss that makes some heads of one
// cross-attention layer attend to the source tokens that a word alignment links.
#pragma once

#include <span>
#include <vector>

#include "nn/attention/attention.h"

namespace attn {

/// The alignment of one target token with one source token.
struct TokenLink {
  Index query = 0;   ///< row of the target token among the batch's packed target tokens
  Index key = 0;     ///< position of the source token in its sentence
  float weight = 0;  ///< p; the weights of one query add up to 1
};

struct GuidedAlignment {
  std::span<const TokenLink> links;  ///< in ascending order of `query`
  std::span<const int> heads;        ///< whose mean weight is guided
  float weight = 0;                  ///< λ
  float scale = 1;                   ///< scale of the gradient, besides λ
};

/// For each linked query t, with α the mean over the heads of the attention weights before dropout,
///   loss = −λ · Σ_t Σ_j p_tj · ln(α_tj + ε),   ε = 1e-6 as in Marian
/// Returns the loss and adds scale · its gradient at the weights to `dweights`, which is laid out
/// as saved.weights. Throws std::logic_error if a linked group goes through tiles, which keep no
/// weights, or if a link is outside of its group.
double guided_alignment_loss(const AttentionShape& shape, std::span<const AttentionGroup> groups,
                             const SavedForBackward& saved, const GuidedAlignment& guided,
                             std::vector<float>& dweights);

/// The gradients of a loss that depends on the attention weights directly as well as through the
/// output.
struct GradientWithWeights {
  ConstMatrixRef doutput;           ///< [T, D]
  std::span<const float> dweights;  ///< laid out as saved.weights; empty: no such dependence
};

/// Like attend_backward() of exact attention, but adds `dweights` to dP before dS is computed.
void attend_backward_with_weights(const AttentionShape& shape, const AttentionInput& input,
                                  const SavedForBackward& saved, const GradientWithWeights& from,
                                  AttentionInputGradient gradient);

}  // namespace attn
