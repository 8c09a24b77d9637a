// Encoder and decoder layers in training: the forward pass that keeps what the backward pass needs,
// and the backward pass beside it.
#pragma once

#include <span>
#include <vector>

#include "model/parameters.h"
#include "model/residual.h"
#include "nn/attention.h"

namespace attn {

/// Memory that every layer's backward pass uses in turn.
struct TrainingScratch {
  Buffer residual[2];  ///< [T, D] of TrainableResidual
  Buffer context;      ///< [T, D] gradient at the heads' outputs
  Buffer projected;    ///< [T, 3D] gradient at queries, keys and values
  Buffer hidden;       ///< [T, F]
};

/// What a layer needs to know of the pass it runs in.
struct LayerPass {
  std::span<const AttentionGroup> self;   ///< who looks at whom in this stack
  std::span<const AttentionGroup> cross;  ///< from the target into the source
  DropoutKeys& keys;
  bool dropout;  ///< false: off, whatever the config says

  Dropout next(float probability) const { return keys.next(dropout ? probability : 0.0F); }
};

/// Self-attention: query, key and value projections as one product, attention, output projection.
class TrainableSelfAttention {
 public:
  TrainableSelfAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                         const AttentionShape& shape, Backend backend);
  void prepare();
  void forward(const ConstMatrixRef& x, const LayerPass& pass, const Dropout& dropout, MatrixRef y);
  void backward(const ConstMatrixRef& x, const LayerPass& pass, const ConstMatrixRef& dy,
                const InputGradient& dx, TrainingScratch& scratch);

 private:
  AttentionShape shape_;
  TrainableLinear query_key_value_;
  TrainableLinear output_;
  Dropout dropout_;
  Buffer projected_;  ///< [T, 3D]
  Buffer context_;    ///< [T, D]
  KeptWeights kept_;
};

/// Cross-attention: queries from the target, keys and values from the encoder's output.
class TrainableCrossAttention {
 public:
  TrainableCrossAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                          const AttentionShape& shape, Backend backend);
  void prepare();
  void forward(const ConstMatrixRef& x, const ConstMatrixRef& memory, const LayerPass& pass,
               const Dropout& dropout, MatrixRef y);
  /// dmemory [S, D], the gradient at the encoder's output, is added to.
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& memory, const LayerPass& pass,
                const ConstMatrixRef& dy, const InputGradient& dx, MatrixRef dmemory,
                TrainingScratch& scratch);

 private:
  AttentionShape shape_;
  TrainableLinear query_;
  TrainableLinear key_value_;
  TrainableLinear output_;
  Dropout dropout_;
  Buffer queries_;    ///< [T, D]
  Buffer projected_;  ///< [S, 2D] keys and values
  Buffer context_;    ///< [T, D]
  KeptWeights kept_;
};

/// The encoder's layer: self-attention and feed-forward, each in its residual.
class TrainableEncoderLayer {
 public:
  TrainableEncoderLayer(const ModelConfig& config, std::size_t layer,
                        const EncoderLayer& parameters, const EncoderLayer& gradient,
                        Backend backend);
  void prepare();
  ConstMatrixRef forward(const ConstMatrixRef& x, const LayerPass& pass);
  /// x as in forward(); d is the gradient at the output, then at x.
  void backward(const ConstMatrixRef& x, const LayerPass& pass, MatrixRef d,
                TrainingScratch& scratch);

 private:
  const ModelConfig& config_;
  TrainableSelfAttention attention_;
  TrainableResidual attention_residual_;
  TrainableFeedForward feed_forward_;
  TrainableResidual feed_forward_residual_;
};

/// The decoder's layer: masked self-attention, cross-attention and feed-forward.
class TrainableDecoderLayer {
 public:
  TrainableDecoderLayer(const ModelConfig& config, std::size_t layer,
                        const DecoderLayer& parameters, const DecoderLayer& gradient,
                        Backend backend);
  void prepare();
  ConstMatrixRef forward(const ConstMatrixRef& x, const ConstMatrixRef& memory,
                         const LayerPass& pass);
  void backward(const ConstMatrixRef& x, const ConstMatrixRef& memory, const LayerPass& pass,
                MatrixRef d, MatrixRef dmemory, TrainingScratch& scratch);

 private:
  const ModelConfig& config_;
  TrainableSelfAttention self_attention_;
  TrainableResidual self_residual_;
  TrainableCrossAttention cross_attention_;
  TrainableResidual cross_residual_;
  TrainableFeedForward feed_forward_;
  TrainableResidual feed_forward_residual_;
};

}  // namespace attn
