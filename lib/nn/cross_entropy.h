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

/// For each row t of logits [T, V] over V classes, with log p its log-softmax:
///   loss_t = −(1 − ε) · log p(targets[t]) − ε / V · Σ_j log p(j)
/// The logits become the gradient of scale · Σ_t loss_t: softmax − (1 − ε) · onehot − ε / V, times
/// scale. PyTorch's cross_entropy with label_smoothing = ε, by rows.
LossSum cross_entropy(MatrixRef logits, std::span<const int> targets, float smoothing, float scale);

}  // namespace attn
