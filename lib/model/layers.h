// The Transformer, layer by layer: figure 1 of Vaswani et al. 2017, from below. Whole sentences
// (Transformer) and single steps on cached keys and values (IncrementalDecoder) run through the
// same functions. Training has layers of its own, which keep what the way back needs
// (training_layers.h); they go by the same names in the same order.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/at.h"
#include "model/parameters.h"
#include "nn/attention/attention.h"
#include "nn/attention/distance_bias.h"
#include "nn/attention/rotation.h"
#include "nn/attention/step_memory.h"
#include "nn/embedding.h"

namespace attn {

/// Scratch of one forward pass, allocated once and reused by every layer and step.
struct Workspace {
  Matrix normal;     ///< [T, D] what a block reads in pre-norm models
  Matrix projected;  ///< [T, I + 2I'] queries, keys and values; heads may share those, I' < I
  Matrix heads;      ///< [T, I] the outputs of all heads side by side
  Matrix block;      ///< [T, D] what a block adds to the rows that pass by it
  Matrix hidden;     ///< [≤ T, F] inside the feed-forward block; with a gate [≤ T, 2F]
  Matrix global;     ///< [T, 3D] of global tokens' own projections, where the model has them

  /// For one of the stacks. `watched`: an observer sees the feed-forward's hidden rows, so that all
  /// must be there at once.
  void reserve(Index rows, const ModelConfig& config, bool encoder, bool watched);
};

/// What the self-attentions of a stack know of places: biases of relative positions, spread out by
/// distance, or rotary positions.
class StackPlaces {
 public:
  StackPlaces() = default;
  /// Nothing where the model has no such positions. `places`: of the longest sentence.
  template <typename Layer>
  StackPlaces(const ModelConfig& config, const EmbeddingsAndNorm& stack,
              const std::vector<Layer>& layers, Index places) {
    constexpr bool causal = std::is_same_v<Layer, DecoderLayer>;
    if (config.rotary) {
      rotation_.emplace(places, causal ? config.decoder_head_dim() : config.encoder_head_dim());
    }
    if (!config.relative.exist()) return;
    for (const Layer& layer : layers) {
      if (!of_layers_.empty() && !config.relative.in_every_layer) return;
      of_layers_.emplace_back(distances_of(stack, layer.self_attention), config.relative, causal,
                              std::max<Index>(places, 1));
    }
  }

  /// Null: scores have no bias.
  const DistanceBias* distances_of_layer(Index layer) const {
    if (of_layers_.empty()) return nullptr;
    return &at(of_layers_, of_layers_.size() == 1 ? 0 : layer);
  }
  /// Null: queries and keys are not turned.
  const Rotation* rotation() const { return rotation_ ? &*rotation_ : nullptr; }

 private:
  std::vector<DistanceBias> of_layers_;  ///< one for all, or one each
  std::optional<Rotation> rotation_;
};

/// What the layers of a stack share while one batch, or one step of it, passes through them.
struct StackRun {
  const ModelConfig& config;
  AttentionKind kind;                     ///< the stack's self-attention
  std::span<const AttentionGroup> self;   ///< who looks at whom in it
  std::span<const AttentionGroup> cross;  ///< decoder: who looks at which rows of the source
  AttentionObserver* observer;            ///< null: nobody watches
  Workspace& work;
  const StackPlaces& knows;
  std::span<const Index> places;  ///< of every row in its sentence
};

/// What a decoder layer attends to besides its own rows.
struct DecoderMemory {
  ConstMatrixRef source;  ///< [S, 2I] the encoder's output through the layer's key and value
                          ///< weights, fewer columns where heads share them
  AttentionMemory* past = nullptr;  ///< of its self-attention; null: the rows are whole sentences
};

/// Heads and scale of an attention of the model.
AttentionShape attention_shape(const ModelConfig& config, AttentionKind kind, Index layer);

/// Rows of a position table before that of the first place: BART's 2.
Index rows_before_places(const ModelConfig& config);

/// The sinusoids of a position table of so many rows. M2M100's class counts places from
/// pad_token_id + 1 on, 2 in all published models.
Matrix position_sinusoids(const ModelConfig& config, Index rows);

/// The places' rows of a stack's position table: without those before the first one.
Parameter position_rows(const ModelConfig& config, const Parameter& table);

/// A stack's tables. Where places count from pad_token_id on, pad itself has none, as M2M100's
/// class decodes token by token; the tokens behind it have theirs as if it had one.
EmbeddingTables embedding_tables(const ModelConfig& config, const EmbeddingsAndNorm& stack);

/// √D, or 1 where the model does not scale its embeddings.
float embedding_scale(const ModelConfig& config);
/// 1/√D, or 1 where the model does not scale what its output layer reads.
float output_scale(const ModelConfig& config);

/// The row of the embeddings that training leaves as it is: padding's, with which the decoder
/// starts; −1: none. Where no position is added to it, a row of zeros would start nothing: a norm
/// divides by its size.
int frozen_row(const ModelConfig& config);

/// The pieces that training's loss runs over, the first ones: all, as in transformers' classes, but
/// for padding where it is the last, as in models of this program.
Index loss_classes(const ModelConfig& config);

/// The rows that enter a stack (sections 3.4 and 3.5): x[t] = embedding of tokens[t] · √D +
/// position run.places[t], normed where the model norms embeddings. x [T, D].
void enter_stack(const EmbeddingsAndNorm& stack, const StackRun& run, std::span<const int> tokens,
                 MatrixRef x);

/// x [T, D] ← encoder layer number `index` of x: self-attention, feed-forward.
void encoder_layer(const EncoderLayer& layer, Index index, const StackRun& run, MatrixRef x);

/// x [T, D] ← decoder layer number `index` of x: masked self-attention, cross-attention,
/// feed-forward.
void decoder_layer(const DecoderLayer& layer, Index index, const StackRun& run,
                   const DecoderMemory& memory, MatrixRef x);

/// The norm behind the last layer, and the scale of a decoder's output, where the model has them. x
/// [T, D], in place.
void leave_stack(const EmbeddingsAndNorm& stack, const StackRun& run, MatrixRef x);

}  // namespace attn
