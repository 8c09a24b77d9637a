// The way back through tiles: weights are computed again from one log-sum-exp a row.
#pragma once

#include "nn/attention/multi_head_attention.h"
#include "nn/attention/tiled_attention.h"

namespace attn {

/// One head of one group on its way back.
struct TiledHeadBackward {
  Index group = 0;
  Index head = 0;
  const float* log_sums = nullptr;  ///< [queries] as attend_tile() left them in `maximum`
  TileDropout dropout;
  RelativePositionBiasGradient& relative_bias;
};

/// The output of the forward pass, and the gradient at it. Both [T, D].
struct OutputGradient {
  const float* output;
  Index output_stride;
  ConstMatrixRef doutput;
};

/// Writes the head's columns of `gradient` at the rows of its group. The order of all sums is that
/// of the tiles, so heads may run on any threads.
void attend_tiled_backward(const AttentionShape& shape, const AttentionInput& input,
                           const TiledHeadBackward& head, const OutputGradient& output,
                           const AttentionInputGradient& gradient);

}  // namespace attn
