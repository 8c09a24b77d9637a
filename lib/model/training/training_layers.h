// Encoder and decoder layers in training: those of layers.h in the same order under the same names,
// with dropout. Each saves what its backward(), beside it, will read. The layers of families with
// global tokens are in training_global_tokens.cpp.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "compute/buffer.h"
#include "config/model_config.h"
#include "model/global_tokens.h"
#include "model/layers.h"
#include "model/parameters.h"
#include "model/training/training_residual.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/feed_forward.h"

namespace attn {

/// Memory that every layer's backward pass uses in turn.
struct TrainingScratch {
  ResidualScratch residual;
  ActivationBuffer heads;  ///< [T, I] gradient at the heads' outputs
  ActivationBuffer
      projected;            ///< [T, 3I] gradient at queries, keys and values, of every head its own
  ActivationBuffer folded;  ///< [T, I + 2I'] the same, added up where heads share keys and values
  ActivationBuffer global;  ///< [T, 3D] that of global tokens' own
  ActivationBuffer hidden;  ///< [T, F], with a gate [T, 2F]
};

/// What a layer needs to know of the pass it runs in.
struct LayerPass {
  std::span<const AttentionGroup> self;   ///< who looks at whom in this stack
  std::span<const AttentionGroup> cross;  ///< from the target into the source
  DropoutKeys& keys;
  bool dropout;                                        ///< false: off, whatever the config says
  TrainingScratch& scratch;                            ///< of the backward pass
  const AttentionPositionEncoding& position_encoding;  ///< what self-attention knows of places
  std::span<const Index> positions;                    ///< of every row
  const Parameter& drelative_bias;  ///< gradient of the stack's table of relative positions

  Dropout next(float probability) const { return keys.next(dropout ? probability : 0.0F); }
};

/// Self-attention: query, key and value projections as one product, attention, output projection.
class TrainableSelfAttention {
 public:
  TrainableSelfAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                         const AttentionShape& shape, Backend backend);
  TrainableSelfAttention(const TrainableSelfAttention&) = delete;
  TrainableSelfAttention& operator=(const TrainableSelfAttention&) = delete;
  virtual ~TrainableSelfAttention() = default;
  virtual void prepare();

  /// x [T, D] → out [T, D]; `dropout` acts on the attention weights. `pass` lives until after
  /// backward().
  void forward(const ConstMatrixRef& x, const LayerPass& pass, const Dropout& dropout,
               MatrixRef out);

  /// After forward() of the same x: dout → dx, and the parameters' gradients.
  void backward(const ConstMatrixRef& x, const LayerPass& pass, const ConstMatrixRef& dout,
                const InputGradient& dx);

 protected:
  /// The projected rows → heads [T, I]; x as in forward().
  virtual void attend(const ConstMatrixRef& x, const AttentionInput& rows, const Dropout& dropout,
                      MatrixRef heads);
  /// dheads → the gradient at the projected rows, in scratch.projected.
  virtual void attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                                  const AttentionInputGradient& gradient, TrainingScratch& scratch);
  /// The gradient at what the projections have made → dx.
  virtual void projection_backward(const ConstMatrixRef& x, const ConstMatrixRef& dprojected,
                                   const InputGradient& dx, TrainingScratch& scratch);

  void run_attention(const AttentionInput& rows, const Dropout& dropout, MatrixRef heads);
  void run_attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                              const AttentionInputGradient& gradient);

 private:
  /// What attention reads in the rows that the projections have made.
  AttentionInput read(const LayerPass& pass) const;
  /// scratch.projected [T, 3I] → the gradient at what the projections have made.
  ConstMatrixRef fold_gradients(const LayerPass& pass) const;

  AttentionShape shape_;  ///< with the biases of the pass at hand
  ExtraAttentionParameters extras_;
  ExtraAttentionParameters extras_gradient_;
  bool shares_query_and_key_;
  TrainableLinear query_key_value_;
  TrainableLinear output_;
  ActivationBuffer projected_;  ///< [T, I + 2I'] = Q | K | V, or [T, 2I] = Q | V
  ActivationBuffer heads_;      ///< [T, I] the outputs of all heads side by side
  SavedForBackward saved_;
};

/// What cross-attention reads in the encoder's output, and what it gives back.
struct SourceWithGradient {
  ConstMatrixRef rows;  ///< [S, D] the encoder's output
  MatrixRef gradient;   ///< [S, D] backward adds to it
};

/// Cross-attention: queries from the target, keys and values from the encoder's output.
class TrainableCrossAttention {
 public:
  TrainableCrossAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                          const AttentionShape& shape, Backend backend);
  void prepare();

  /// x [T, D] and source [S, D] → out [T, D].
  void forward(const ConstMatrixRef& x, const ConstMatrixRef& source, const LayerPass& pass,
               const Dropout& dropout, MatrixRef out);

  /// dout → dx and the source's gradient, and the parameters' gradients.
  void backward(const ConstMatrixRef& x, const SourceWithGradient& source, const LayerPass& pass,
                const ConstMatrixRef& dout, const InputGradient& dx);

 private:
  AttentionShape shape_;
  TrainableLinear query_;
  TrainableLinear key_value_;
  TrainableLinear output_;
  ActivationBuffer queries_;      ///< [T, I]
  ActivationBuffer keys_values_;  ///< [S, 2I']
  ActivationBuffer heads_;        ///< [T, I]
  SavedForBackward saved_;
};

/// The encoder's layer: self-attention and feed-forward, each in its residual.
class TrainableEncoderLayer {
 public:
  TrainableEncoderLayer(const ModelConfig& config, Index index, const EncoderLayer& parameters,
                        const EncoderLayer& gradient, Backend backend);
  void prepare();

  /// x [T, D] → [T, D], alive until the next pass.
  ConstMatrixRef forward(const ConstMatrixRef& x, const LayerPass& pass);
  /// x as in forward(); dx is the gradient at the output, on return the one at x.
  void backward(const ConstMatrixRef& x, const LayerPass& pass, MatrixRef dx);

 private:
  const ModelConfig& config_;
  std::unique_ptr<TrainableSelfAttention> self_attention_;
  TrainableResidual self_residual_;
  TrainableFeedForward feed_forward_;
  TrainableResidual forward_residual_;
};

/// The decoder's layer: masked self-attention, cross-attention and feed-forward.
class TrainableDecoderLayer {
 public:
  TrainableDecoderLayer(const ModelConfig& config, Index index, const DecoderLayer& parameters,
                        const DecoderLayer& gradient, Backend backend);
  void prepare();

  /// x [T, D], source [S, D] → [T, D], alive until the next pass.
  ConstMatrixRef forward(const ConstMatrixRef& x, const ConstMatrixRef& source,
                         const LayerPass& pass);
  /// x as in forward(); dx is the gradient at the output, on return the one at x.
  void backward(const ConstMatrixRef& x, const SourceWithGradient& source, const LayerPass& pass,
                MatrixRef dx);

 private:
  const ModelConfig& config_;
  TrainableSelfAttention self_attention_;
  TrainableResidual self_residual_;
  TrainableCrossAttention cross_attention_;
  TrainableResidual cross_residual_;
  TrainableFeedForward feed_forward_;
  TrainableResidual forward_residual_;
};

// Global tokens that a model brings itself (Pegasus-X), in training: their rows on the way in and
// out of the encoder's layers, and their gradient. Without such tokens all rows pass as they are.

class TrainableGlobalTokens {
 public:
  /// `tokens` and `gradient` [G, D].
  TrainableGlobalTokens(const ModelConfig& config, const Parameter& tokens,
                        const Parameter& gradient)
      : config_(config), tokens_(tokens), gradient_(gradient) {}

  /// Who looks at whom among the rows of this batch; they refer to this object and to `source`.
  std::vector<AttentionGroup> begin(const PackedTokens& source);

  /// The sentences' rows [S, D] → those that go through the layers [S + B·G, D], and back.
  ConstMatrixRef enter(const ConstMatrixRef& sentences);
  ConstMatrixRef leave(const ConstMatrixRef& rows);

  /// The gradient at leave()'s result → at its argument.
  MatrixRef leave_backward(MatrixRef dsentences);
  /// The gradient at enter()'s result → dsentences, and the tokens' own.
  void enter_backward(const MatrixRef& drows, MatrixRef dsentences) const;

 private:
  const ModelConfig& config_;
  Parameter tokens_;
  Parameter gradient_;
  std::unique_ptr<const GlobalTokenRows> layout_;  ///< null: no such tokens
  ActivationBuffer rows_;                          ///< [S + B·G, D]
  ActivationBuffer sentences_;                     ///< [S, D]
  ActivationBuffer drows_;                         ///< [S + B·G, D]
};

// Self-attention of an encoder whose global tokens have projections of their own (LED), in
// training.

class TrainableGlobalTokenAttention : public TrainableSelfAttention {
 public:
  TrainableGlobalTokenAttention(const EncoderLayer& parameters, const EncoderLayer& gradient,
                                const AttentionShape& shape, Backend backend);
  void prepare() override;

 protected:
  void attend(const ConstMatrixRef& x, const AttentionInput& rows, const Dropout& dropout,
              MatrixRef heads) override;
  void attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                          const AttentionInputGradient& gradient,
                          TrainingScratch& scratch) override;
  void projection_backward(const ConstMatrixRef& x, const ConstMatrixRef& dprojected,
                           const InputGradient& dx, TrainingScratch& scratch) override;

 private:
  GlobalProjections projections() const;

  TrainableLinear query_;
  TrainableLinear key_value_;
  ActivationBuffer
      projected_;  ///< [T, 3D] = Q | K | V of all rows, of which global tokens' queries are read
};

}  // namespace attn
