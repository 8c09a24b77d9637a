// The blocks that encoder, decoder and incremental decoder share: a sub-layer with its residual and
// norm, and the feed-forward block.
#pragma once

#include "model/transformer.h"

namespace attn {

/// y += x, row by row.
void add_rows(const ConstMatrixRef& x, MatrixRef y);

/// Tells an observer what stands at a stage of one block; costs nothing without one.
struct Watch {
  AttentionObserver* observer = nullptr;
  AttentionKind kind = AttentionKind::encoder_self;
  Index layer = 0;

  void operator()(Stage stage, const ConstMatrixRef& rows) const {
    if (observer != nullptr) observer->stage_ready({kind, layer, stage, rows});
  }
};

/// A block's norm, and on which side of the sub-layer it stands.
struct BlockNorm {
  const LayerNorm& norm;
  bool before = false;
};

/// x ← norm(x + sublayer(x))      after each block (Vaswani et al. 2017, Marian), or
/// x ← x + sublayer(norm(x))      before it (Xiong et al. 2020, Pegasus).
/// `sublayer(in, out)` reads [T, D] and writes [T, D].
template <typename SubLayer>
void residual_block(const BlockNorm& norm, MatrixRef x, Workspace& work, const Watch& watch,
                    SubLayer&& sublayer) {
  MatrixRef out = work.block.topRows(x.rows());
  watch(Stage::block_input, x);
  if (norm.before) {
    MatrixRef normal = work.normal.topRows(x.rows());
    norm.norm.forward(x, normal);
    watch(Stage::normed_input, normal);
    sublayer(ConstMatrixRef(normal), out);
  } else {
    sublayer(ConstMatrixRef(x), out);
  }
  watch(Stage::mixed, out);
  add_rows(out, x);
  watch(Stage::block_sum, x);
  if (!norm.before) norm.norm.forward(x, x);
  watch(Stage::block_output, x);
}

/// The feed-forward block of either stack.
inline void feed_forward_block(const FeedForward& layer, const BlockNorm& norm, MatrixRef x,
                               Workspace& work) {
  residual_block(norm, x, work, Watch{}, [&](const ConstMatrixRef& in, MatrixRef out) {
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
