// Attention in training: attend() that keeps its weights, and the way back.
#pragma once

#include <span>
#include <vector>

#include "compute/buffer.h"
#include "nn/attention/attention.h"
#include "nn/dropout.h"

namespace attn {

/// What the backward pass needs of one forward pass: softmax's output of every head of the groups
/// that go through no tiles, one log-sum-exp a row of the others, and the dropout that acted.
struct SavedForBackward {
  AlignedFloats weights;          ///< group after group: [heads, queries, keys]
  std::vector<float> log_sums;    ///< group after group: [heads, queries]
  std::vector<Index> first;       ///< number of each group's first weight, for dropout
  std::vector<Index> offset;      ///< where each group begins, in `weights` or `log_sums`
  std::vector<float> row_sums;    ///< memory of the forward pass
  const float* output = nullptr;  ///< where the forward pass wrote; must be there on the way back
  Index output_stride = 0;
  Dropout dropout;
  ActivationBuffer low_rank;                    ///< linformer: [B · k, 2D] keys and values
  std::vector<AttentionGroup> low_rank_groups;  ///< linformer: who looks at which of them
};

/// attend() that keeps the weights; dropout acts on them before they meet the values.
/// std::logic_error where keys lie in a cache.
void attend_training(const AttentionShape& shape, const AttentionInput& input,
                     const Dropout& dropout, MatrixRef output, SavedForBackward& saved);

/// Where the gradients of GlobalProjections go; rows of other tokens become 0.
struct GlobalGradient {
  MatrixRef dqueries;  ///< [T, D]
  float* dkeys = nullptr;
  float* dvalues = nullptr;
  Index stride = 0;
};

/// Where the gradients at queries, keys and values go, of all heads.
struct AttentionInputGradient {
  MatrixRef dqueries;      ///< [T, D]
  float* dkeys = nullptr;  ///< rows where KeysAndValues has them
  float* dvalues = nullptr;
  Index stride = 0;                        ///< of dkeys and dvalues
  const GlobalGradient* global = nullptr;  ///< where the input has projections of global tokens
  /// Gradients that are added to: linformer's, and that of the table of relative positions, the
  /// layer's own or the stack's.
  const ExtraAttentionParameters* extras = nullptr;
};

/// Of dkeys_values [S, 2D], which hold a key's gradient and then its value's.
inline AttentionInputGradient input_gradient(MatrixRef dqueries, MatrixRef dkeys_values) {
  return {dqueries,
          dkeys_values.data(),
          dkeys_values.data() + dkeys_values.cols() / 2,
          dkeys_values.outerStride(),
          nullptr,
          nullptr};
}

/// The gradients of attend_training() from doutput [T, D] at its output. With P the weights, P̃ the
/// weights after dropout, and for each head
///   dV = P̃ᵀ · dO,   dP̃ = dO · Vᵀ,   dS = P ⊙ (dP − rowsum(P ⊙ dP)) · scale,   dQ = dS · K,
///   dK = dSᵀ · Q
/// where dP is dP̃ through the same dropout. Writes `gradient`, a head's keys and values each in
/// columns of its own, also where several heads read the same ones; every key belongs to one group.
/// A table of relative positions gets dS / scale by distance.
void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                     const SavedForBackward& saved, const ConstMatrixRef& doutput,
                     AttentionInputGradient gradient);

}  // namespace attn
