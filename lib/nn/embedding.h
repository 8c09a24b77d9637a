// Token embeddings and positions.
#pragma once

#include <span>

#include "compute/matmul.h"
#include "config/family.h"

namespace attn {

/// out[t] = table[ids[t]] · scale + positions[first_positions…]. table [V, D], positions [P, D],
/// out [T, D]; position[t] is the place of token t in its sentence. Ids and positions are checked
/// by the caller (std::logic_error here).
void embed(const Parameter& table, const Parameter& positions, float scale,
           std::span<const int> ids, std::span<const Index> position, MatrixRef out);

/// The gradients of embed(): dtable[ids[t]] += scale · dout[t], and dpositions[position[t]] +=
/// dout[t] where positions are learned (dpositions.data null: they are not). The row of `frozen`
/// (padding) stays as it is; −1: none.
void embed_backward(const ConstMatrixRef& dout, float scale, std::span<const int> ids, int frozen,
                    std::span<const Index> position, const Parameter& dtable,
                    const Parameter& dpositions);

/// Marian's sinusoids for positions 0 … P−1 (Vaswani et al. 2017, section 3.5, with all sines in
/// the first half of the columns and all cosines in the second):
///   PE(p, i)            = sin(p / 10000^(2i/D))   for the first ⌈D/2⌉ columns
///   PE(p, ⌈D/2⌉ + i)    = cos(p / 10000^(2i/D))   for the other ⌊D/2⌋
/// Computed in double and rounded once, as transformers does. Pegasus-X has D/2 − 1 where this has
/// D/2: the angles are p / 10000^(i / (D/2 − 1)), for an even D from 4 on.
Matrix sinusoids(Index positions, Index d_model, SinusoidKind kind = SinusoidKind::marian);

}  // namespace attn
