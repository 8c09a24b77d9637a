// Multi-head attention (Vaswani et al. 2017, section 3.2.2), forward and backward: the formula of
// attention.h for all heads of all sentences of a batch.
//
// The input is projected to Q, K and V. Head h owns the columns [h·K, (h+1)·K) of all three, with
// K = head_dim = d_model / H. Its output goes to the same columns of one [T, D] matrix, so the
// heads' outputs are concatenated without a copy. One more projection combines them.
//
//   x [T, D] ─· W_qkv + b─► [Q | K | V] [T, 3D] ─per sentence and head─► [T, D] ─· W_o + b─► [T, D]
//
// attend() computes the same formula in two ways. Groups with short rows call attend_rows() in
// attention.cpp. Sparse patterns and long sentences go through tiled_attention.h. The sparse
// approximations (linformer, performer, lsh) compute something else: patterns/pattern_attention.h.
#pragma once

#include "nn/attention/attention.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace attn {

/// The parameters of one multi-head attention, and the packed weights made from them.
struct MultiHeadAttention {
  Linear query;  ///< weight [D, D], bias [D]; [D, I] if head_dim is set separately
  Linear key;  ///< weight [D, D], bias [D]; lsh: none, because keys are the queries; fewer columns
               ///< for key and value if heads share them
  Linear value;   ///< weight [D, D], bias [D]
  Linear output;  ///< weight [D, D], bias [D]
  ExtraAttentionParameters extras;

  PackedLinear qkv_projection;     ///< [D, 3D], for self-attention
  PackedLinear query_projection;   ///< [D, D], for cross-attention and global tokens
  PackedLinear kv_projection;      ///< [D, 2D], for the same; cross-attention applies it to the
                                   ///< encoder's output once per sentence
  PackedLinear output_projection;  ///< [D, D]

  void prepare_self(PreparationOptions how);       ///< qkv_projection and output_projection
  void prepare_key_value(PreparationOptions how);  ///< kv_projection
  void prepare_global(PreparationOptions how);     ///< kv_projection and query_projection
  void prepare_cross(PreparationOptions how);      ///< query_projection and output_projection
};

/// Computes attention for every group and head. Output [T, I]: head h writes its own columns. A
/// query that may see no key gets zeros. Masked keys contribute nothing, whatever their values are.
/// The output is the same with and without an observer (null: none).
void attend(const AttentionShape& shape, const AttentionInput& input, MatrixRef output,
            AttentionObserver* observer);

/// Like attend(), but saves the data that attend_backward() needs. Dropout applies to the weights
/// before they multiply the values. Throws std::logic_error if the keys are in a cache.
void attend_training(const AttentionShape& shape, const AttentionInput& input,
                     const Dropout& dropout, MatrixRef output, SavedForBackward& saved);

/// Computes the gradients of attend_training() from doutput [T, D], the gradient with respect to
/// its output. With P the weights and P̃ the weights after dropout, each head computes
///   dV = P̃ᵀ · dO,   dP̃ = dO · Vᵀ,   dS = P ⊙ (dP − rowsum(P ⊙ dP)) · scale,
///   dQ = dS · K,   dK = dSᵀ · Q
/// where dP is dP̃ after the same dropout. Writes `gradient`: each head's keys and values go to
/// columns of their own, even if heads share keys and values. Every key belongs to one group. The
/// relative position bias receives dS / scale by distance.
void attend_backward(const AttentionShape& shape, const AttentionInput& input,
                     const SavedForBackward& saved, const ConstMatrixRef& doutput,
                     AttentionInputGradient gradient);

}  // namespace attn
