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
#include "nn/attention/guided_alignment.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/feed_forward.h"

namespace attn {

/// Memory shared by the backward passes of all layers.
struct TrainingScratch {
  ResidualScratch residual;
  ActivationBuffer heads;  ///< [T, I] gradient of the heads' outputs
  ActivationBuffer
      projected;  ///< [T, 3I] gradient of queries, keys and values, separate for every head
  ActivationBuffer folded;  ///< [T, I + 2I'] the same, summed over heads that share keys and values
  ActivationBuffer global;  ///< [T, 3D] the same for global tokens' separate projections
  ActivationBuffer hidden;  ///< [T, F], or [T, 2F] if gated
};

/// Guided alignment in one decoder layer.
struct GuidedLayer {
  Index layer = 0;
  GuidedAlignment alignment;
  double loss = 0;              ///< set by the layer's backward pass
  std::vector<float> dweights;  ///< scratch
};

/// The state of the pass that a layer runs in.
struct LayerPass {
  std::span<const AttentionGroup> self;   ///< which rows attend to which in this stack
  std::span<const AttentionGroup> cross;  ///< which source rows each target row attends to
  DropoutKeys& keys;
  bool dropout;                                        ///< false: off, regardless of the config
  TrainingScratch& scratch;                            ///< for the backward pass
  const AttentionPositionEncoding& position_encoding;  ///< positional information of self-attention
  std::span<const Index> positions;                    ///< position of every row
  const Parameter& drelative_bias;  ///< gradient of the stack's relative position table
  GuidedLayer* guided = nullptr;    ///< null: no alignment is guided

  Dropout next(float probability) const { return keys.next(dropout ? probability : 0.0F); }
};

/// Self-attention: query, key and value projections as one matmul, attention, output projection.
class TrainableSelfAttention {
 public:
  TrainableSelfAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                         const AttentionShape& shape, Backend backend);
  TrainableSelfAttention(const TrainableSelfAttention&) = delete;
  TrainableSelfAttention& operator=(const TrainableSelfAttention&) = delete;
  virtual ~TrainableSelfAttention() = default;
  virtual void prepare();

  /// x [T, D] → out [T, D]; `dropout` acts on the attention weights. `pass` must live until after
  /// backward().
  void forward(const ConstMatrixRef& x, const LayerPass& pass, const Dropout& dropout,
               MatrixRef out);

  /// Call after forward() with the same x: computes dx from dout, and the parameters' gradients.
  void backward(const ConstMatrixRef& x, const LayerPass& pass, const ConstMatrixRef& dout,
                const InputGradient& dx);

 protected:
  /// Computes heads [T, I] from the projected rows; x as in forward().
  virtual void attend(const ConstMatrixRef& x, const AttentionInput& rows, const Dropout& dropout,
                      MatrixRef heads);
  /// Computes the gradient of the projected rows from dheads, in scratch.projected.
  virtual void attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                                  const AttentionInputGradient& gradient, TrainingScratch& scratch);
  /// Computes dx from the gradient of the projections' output.
  virtual void projection_backward(const ConstMatrixRef& x, const ConstMatrixRef& dprojected,
                                   const InputGradient& dx, TrainingScratch& scratch);

  void run_attention(const AttentionInput& rows, const Dropout& dropout, MatrixRef heads);
  void run_attention_backward(const AttentionInput& rows, const ConstMatrixRef& dheads,
                              const AttentionInputGradient& gradient);

 private:
  /// Returns the attention's input as views of the projected rows.
  AttentionInput read(const LayerPass& pass) const;
  /// Converts scratch.projected [T, 3I] to the gradient of the projections' output.
  ConstMatrixRef fold_gradients(const LayerPass& pass) const;

  AttentionShape shape_;  ///< with the biases of the current pass
  ExtraAttentionParameters extras_;
  ExtraAttentionParameters extras_gradient_;
  bool shares_query_and_key_;
  TrainableLinear query_key_value_;
  TrainableLinear output_;
  ActivationBuffer projected_;  ///< [T, I + 2I'] = Q | K | V, or [T, 2I] = Q | V
  ActivationBuffer heads_;      ///< [T, I] outputs of all heads side by side
  SavedForBackward saved_;
};

/// The encoder's output as cross-attention reads it, with its gradient.
struct SourceWithGradient {
  ConstMatrixRef rows;  ///< [S, D] the encoder's output
  MatrixRef gradient;   ///< [S, D] backward() adds to it
};

/// Cross-attention: queries from the target, keys and values from the encoder's output.
class TrainableCrossAttention {
 public:
  TrainableCrossAttention(const MultiHeadAttention& parameters, const MultiHeadAttention& gradient,
                          const AttentionShape& shape, Backend backend);
  void prepare();

  /// Computes out [T, D] from x [T, D] and source [S, D].
  void forward(const ConstMatrixRef& x, const ConstMatrixRef& source, const LayerPass& pass,
               const Dropout& dropout, MatrixRef out);

  /// Computes dx from dout, adds to the source's gradient, and computes the parameters' gradients.
  void backward(const ConstMatrixRef& x, const SourceWithGradient& source, const LayerPass& pass,
                const ConstMatrixRef& dout, const InputGradient& dx);

 private:
  void attention_backward(const LayerPass& pass, const ConstMatrixRef& dheads,
                          const AttentionInputGradient& gradient);

  AttentionShape shape_;
  TrainableLinear query_;
  TrainableLinear key_value_;
  TrainableLinear output_;
  ActivationBuffer queries_;      ///< [T, I]
  ActivationBuffer keys_values_;  ///< [S, 2I']
  ActivationBuffer heads_;        ///< [T, I]
  SavedForBackward saved_;
};

/// Encoder layer: self-attention and feed-forward, each with a residual connection.
class TrainableEncoderLayer {
 public:
  TrainableEncoderLayer(const ModelConfig& config, Index index, const EncoderLayer& parameters,
                        const EncoderLayer& gradient, Backend backend);
  void prepare();

  /// x [T, D] → [T, D], valid until the next pass.
  ConstMatrixRef forward(const ConstMatrixRef& x, const LayerPass& pass);
  /// x as in forward(); dx is the gradient of the output on entry and that of x on return.
  void backward(const ConstMatrixRef& x, const LayerPass& pass, MatrixRef dx);

 private:
  const ModelConfig& config_;
  std::unique_ptr<TrainableSelfAttention> self_attention_;
  TrainableResidual self_residual_;
  TrainableFeedForward feed_forward_;
  TrainableResidual forward_residual_;
};

/// Decoder layer: masked self-attention, cross-attention and feed-forward.
class TrainableDecoderLayer {
 public:
  TrainableDecoderLayer(const ModelConfig& config, Index index, const DecoderLayer& parameters,
                        const DecoderLayer& gradient, Backend backend);
  void prepare();

  /// x [T, D], source [S, D] → [T, D], valid until the next pass.
  ConstMatrixRef forward(const ConstMatrixRef& x, const ConstMatrixRef& source,
                         const LayerPass& pass);
  /// x as in forward(); dx is the gradient of the output on entry and that of x on return.
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

// Learned global tokens (Pegasus-X) in training: adds and removes their rows around the encoder's
// layers and computes their gradient. Without global tokens all rows pass unchanged.

class TrainableGlobalTokens {
 public:
  /// `tokens` and `gradient` [G, D].
  TrainableGlobalTokens(const ModelConfig& config, const Parameter& tokens,
                        const Parameter& gradient)
      : config_(config), tokens_(tokens), gradient_(gradient) {}

  /// Returns the attention groups of this batch. They point into this object and into `source`.
  std::vector<AttentionGroup> begin(const PackedTokens& source);

  /// Converts the sentences' rows [S, D] to the layers' rows [S + B·G, D], and back.
  ConstMatrixRef enter(const ConstMatrixRef& sentences);
  ConstMatrixRef leave(const ConstMatrixRef& rows);

  /// Converts the gradient of leave()'s result to that of its argument.
  MatrixRef leave_backward(MatrixRef dsentences);
  /// Converts the gradient of enter()'s result to dsentences and the tokens' own gradient.
  void enter_backward(const MatrixRef& drows, MatrixRef dsentences) const;

 private:
  const ModelConfig& config_;
  Parameter tokens_;
  Parameter gradient_;
  std::unique_ptr<const GlobalTokenRows> layout_;  ///< null: no global tokens
  ActivationBuffer rows_;                          ///< [S + B·G, D]
  ActivationBuffer sentences_;                     ///< [S, D]
  ActivationBuffer drows_;                         ///< [S + B·G, D]
};

// Self-attention of an encoder whose global tokens have separate projections (LED), in training.

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
      projected_;  ///< [T, 3D] = Q | K | V of all rows; only global tokens' queries are used
};

}  // namespace attn
