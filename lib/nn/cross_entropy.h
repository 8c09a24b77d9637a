// The loss: label-smoothed cross-entropy (Szegedy et al. 2016, section 7).
#pragma once

#include <span>

#include "compute/tensor.h"

namespace attn {

/// Sums over tokens; the loss of a batch is loss / tokens.
struct LossSum {
  double loss = 0;  ///< label-smoothed cross-entropy, natural logarithm
  double nll = 0;   ///< −ln p(target): without smoothing; e^(nll / tokens) is the perplexity
  Index tokens = 0;

  LossSum& operator+=(const LossSum& other) {
    loss += other.loss;
    nll += other.nll;
    tokens += other.tokens;
    return *this;
  }
};

/// Computes the loss of each row t of logits [T, V] over V classes, with log p its log-softmax:
///   loss_t = −(1 − ε) · log p(targets[t]) − ε / V · Σ_j log p(j)
/// The logits become the gradient of scale · Σ_t loss_t: softmax − (1 − ε) · onehot − ε / V, times
/// scale. This is PyTorch's cross_entropy with label_smoothing = ε, row by row.
LossSum cross_entropy(MatrixRef logits, std::span<const int> targets, float smoothing, float scale);

/// The settings of the loss for two passes over the same tokens.
struct RDropSettings {
  float smoothing = 0;  ///< ε of the cross-entropies
  float r_drop = 0;     ///< α, the weight of the divergence
  float scale = 1;      ///< scale of the gradient
};

/// Computes R-Drop (Liang et al. 2021, equation 4), halved, so that α = 0 is the plain loss:
/// logits [2T, V] hold T tokens and, in the same order, the same T tokens of another pass. With P
/// and Q the two softmaxes of token t,
///   loss_t = ½ (loss_t(P) + loss_t(Q)) + α/4 · (KL(P‖Q) + KL(Q‖P)),
/// where loss_t() is that of cross_entropy(), and nll_t is the mean of both. The sums are over T
/// tokens: each counts once. The logits become the gradient of scale · Σ_t loss_t, through both
/// sides of both divergences.
LossSum cross_entropy_r_drop(MatrixRef logits, std::span<const int> targets,
                             const RDropSettings& settings);

}  // namespace attn
