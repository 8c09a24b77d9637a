// Attention to k mixtures of the keys: E and F [P, k] turn the keys and values of a sentence of n
// tokens into k rows each, by their first n rows, and every query looks at those alone.
//
//   softmax(Q (Eᵀ K)ᵀ · scale) Fᵀ V                                         (Wang et al. 2020)
//
// Maps are n × k, and observers see E and F beside them. Time and memory grow with n · k.
#pragma once

#include "nn/attention/attention_training.h"

namespace attn {

/// attend() of the type linformer. std::logic_error without E and F, for causal groups and for keys
/// that lie in a cache; InputError for sentences longer than E.
void attend_linformer(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
                      AttentionObserver* observer);

/// The same in training, and its way back; the gradients at E and F are added to.
void attend_linformer_training(const AttentionShape& shape, const AttentionInput& input,
                               MatrixRef output, SavedForBackward& kept);
void attend_linformer_backward(const AttentionShape& shape, const AttentionInput& input,
                               const SavedForBackward& kept, const ConstMatrixRef& doutput,
                               AttentionInputGradient gradient);

}  // namespace attn
