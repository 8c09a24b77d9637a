// The blocks that encoder, decoder and incremental decoder share: a sub-layer with its residual and
// norm, and the feed-forward block.
#pragma once

#include "model/transformer.h"

namespace attn {

/// y += x, row by row.
void add_rows(const ConstMatrixRef& x, MatrixRef y);

/// x ← norm(x + sublayer(x))      after each block (Vaswani et al. 2017, Marian), or
/// x ← x + sublayer(norm(x))      before it (Xiong et al. 2020, Pegasus).
/// `sublayer(in, out)` reads [T, D] and writes [T, D].
template <typename SubLayer>
void residual_block(const LayerNorm& norm, bool normalize_before, MatrixRef x, Workspace& work,
                    SubLayer&& sublayer) {
  MatrixRef out = work.block.topRows(x.rows());
  if (normalize_before) {
    MatrixRef normal = work.normal.topRows(x.rows());
    norm.forward(x, normal);
    sublayer(ConstMatrixRef(normal), out);
    add_rows(out, x);
  } else {
    sublayer(ConstMatrixRef(x), out);
    add_rows(out, x);
    norm.forward(x, x);
  }
}

/// The feed-forward block of either stack.
inline void feed_forward_block(const FeedForward& layer, const LayerNorm& norm,
                               bool normalize_before, MatrixRef x, Workspace& work) {
  residual_block(norm, normalize_before, x, work, [&](const ConstMatrixRef& in, MatrixRef out) {
    layer.forward(in, work.hidden, out);
  });
}

/// The two attentions' shapes for a layer.
AttentionShape encoder_shape(const ModelConfig& config, std::size_t layer);
AttentionShape decoder_shape(const ModelConfig& config, AttentionKind kind, std::size_t layer);

/// Keys and values side by side in one matrix: keys from `first_column`, values D columns further.
inline KeysAndValues keys_and_values(const float* rows, Index stride, Index first_column,
                                     Index d_model) {
  return {rows + first_column, rows + first_column + d_model, stride};
}

}  // namespace attn
