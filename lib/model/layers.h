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
#include "nn/attention/kv_cache.h"
#include "nn/attention/relative_position_bias.h"
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
class AttentionPositionEncoding {
 public:
  AttentionPositionEncoding() = default;
  /// Nothing where the model has no such positions. `places`: of the longest sentence.
  template <typename Layer>
  AttentionPositionEncoding(const ModelConfig& config, const StackParameters& stack,
                            const std::vector<Layer>& layers, Index positions) {
    constexpr bool causal = std::is_same_v<Layer, DecoderLayer>;
    if (config.rotary) {
      rotary_.emplace(positions, causal ? config.decoder_head_dim() : config.encoder_head_dim());
    }
    if (!config.relative.enabled()) return;
    for (const Layer& layer : layers) {
      if (!layer_biases_.empty() && !config.relative.per_layer) return;
      layer_biases_.emplace_back(relative_bias_of(stack, layer.self_attention), config.relative,
                                 causal, std::max<Index>(positions, 1));
    }
  }

  /// Null: scores have no bias.
  const RelativePositionBias* relative_bias_of_layer(Index layer) const {
    if (layer_biases_.empty()) return nullptr;
    return &at(layer_biases_, layer_biases_.size() == 1 ? 0 : layer);
  }
  /// Null: queries and keys are not turned.
  const RotaryEmbedding* rotary() const { return rotary_ ? &*rotary_ : nullptr; }

 private:
  std::vector<RelativePositionBias> layer_biases_;  ///< one for all, or one each
  std::optional<RotaryEmbedding> rotary_;
};

/// What the layers of a stack share while one batch, or one step of it, passes through them.
struct StackRun {
  const ModelConfig& config;
  AttentionSite site;                     ///< the stack's self-attention
  std::span<const AttentionGroup> self;   ///< who looks at whom in it
  std::span<const AttentionGroup> cross;  ///< decoder: who looks at which rows of the source
  AttentionObserver* observer;            ///< null: nobody watches
  Workspace& work;
  const AttentionPositionEncoding& position_encoding;
  std::span<const Index> positions;  ///< of every row in its sentence
};

/// What a decoder layer attends to besides its own rows.
struct DecoderMemory {
  ConstMatrixRef source;        ///< [S, 2I] the encoder's output through the layer's key and value
                                ///< weights, fewer columns where heads share them
  KvCache* kv_cache = nullptr;  ///< earlier steps of all layers; null: the rows are whole sentences
};

/// Heads and scale of an attention of the model.
AttentionShape attention_shape(const ModelConfig& config, AttentionSite site, Index layer);

/// Rows of a position table before that of the first place: BART's 2.
Index position_table_offset(const ModelConfig& config);

/// The sinusoids of a position table of so many rows. M2M100's class counts places from
/// pad_token_id + 1 on, 2 in all published models.
Matrix position_sinusoids(const ModelConfig& config, Index rows);

/// The places' rows of a stack's position table: without those before the first one.
Parameter position_rows(const ModelConfig& config, const Parameter& table);

/// A stack's tables. Where places count from pad_token_id on, pad itself has none, as M2M100's
/// class decodes token by token; the tokens behind it have theirs as if it had one.
EmbeddingTables embedding_tables(const ModelConfig& config, const StackParameters& stack);

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
void embed_inputs(const StackParameters& stack, const StackRun& run, std::span<const int> tokens,
                  MatrixRef x);

/// x [T, D] ← encoder layer number `index` of x: self-attention, feed-forward.
void encoder_layer(const EncoderLayer& layer, Index index, const StackRun& run, MatrixRef x);

/// x [T, D] ← decoder layer number `index` of x: masked self-attention, cross-attention,
/// feed-forward.
void decoder_layer(const DecoderLayer& layer, Index index, const StackRun& run,
                   const DecoderMemory& memory, MatrixRef x);

/// The norm behind the last layer, and the scale of a decoder's output, where the model has them. x
/// [T, D], in place.
void apply_final_norm(const StackParameters& stack, const StackRun& run, MatrixRef x);

}  // namespace attn
