// The Transformer, layer by layer: figure 1 of Vaswani et al. 2017, from the bottom up. Whole
// sentences (Transformer) and single steps with a KV cache (IncrementalDecoder) run through the
// same functions. Training has its own layers, which keep what the backward pass needs
// (training_layers.h), with the same names in the same order.
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
  Matrix normal;  ///< [T, D] a block's input in pre-norm models
  Matrix
      projected;  ///< [T, I + 2I'] queries, keys and values; I' < I if heads share keys and values
  Matrix heads;   ///< [T, I] outputs of all heads side by side
  Matrix block;   ///< [T, D] a block's output, before it is added to the residual stream
  Matrix hidden;  ///< [≤ T, F] inside the feed-forward block; [≤ T, 2F] if gated
  Matrix global;  ///< [T, 3D] separate projections of global tokens, if the model has them

  /// Allocates memory for one of the stacks. `watched`: an observer sees the feed-forward's hidden
  /// rows, so all of them must exist at once.
  void reserve(Index rows, const ModelConfig& config, bool encoder, bool watched);
};

/// The positional information of a stack's self-attention: relative position biases, expanded by
/// distance, or rotary positions.
class AttentionPositionEncoding {
 public:
  AttentionPositionEncoding() = default;
  /// Empty if the model has no such positions. `positions` is the length of the longest sentence.
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

  /// Returns null if scores have no bias.
  const RelativePositionBias* relative_bias_of_layer(Index layer) const {
    if (layer_biases_.empty()) return nullptr;
    return &at(layer_biases_, layer_biases_.size() == 1 ? 0 : layer);
  }
  /// Returns null if the model has no rotary positions.
  const RotaryEmbedding* rotary() const { return rotary_ ? &*rotary_ : nullptr; }

 private:
  std::vector<RelativePositionBias> layer_biases_;  ///< one for all layers, or one per layer
  std::optional<RotaryEmbedding> rotary_;
};

/// The state that the layers of a stack share while one batch, or one step, passes through.
struct StackRun {
  const ModelConfig& config;
  AttentionSite site;                     ///< the stack's self-attention
  std::span<const AttentionGroup> self;   ///< which rows attend to which
  std::span<const AttentionGroup> cross;  ///< decoder: which source rows each row attends to
  AttentionObserver* observer;            ///< null if there is no observer
  Workspace& work;
  const AttentionPositionEncoding& position_encoding;
  std::span<const Index> positions;  ///< position of every row in its sentence
};

/// The inputs of a decoder layer's attention besides its own rows.
struct DecoderMemory {
  ConstMatrixRef source;        ///< [S, 2I'] the encoder's output through the layer's key and value
                                ///< weights; I' < I columns each where heads share them
  KvCache* kv_cache = nullptr;  ///< earlier steps of all layers; null: the rows are whole sentences
};

/// Returns the heads and scale of an attention of the model.
AttentionShape attention_shape(const ModelConfig& config, AttentionSite site, Index layer);

/// Returns the number of rows in a position table before that of the first position: 2 for BART.
Index position_table_offset(const ModelConfig& config);

/// Returns the sinusoids of a position table with `rows` rows. M2M100's class counts positions from
/// pad_token_id + 1, which is 2 in all published models.
Matrix position_sinusoids(const ModelConfig& config, Index rows);

/// Returns the rows of a stack's position table from the first position on.
Parameter position_rows(const ModelConfig& config, const Parameter& table);

/// Returns a stack's tables. If positions count from pad_token_id, padding itself has no position,
/// as in M2M100's step-by-step decoding; later tokens keep the positions they would have otherwise.
EmbeddingTables embedding_tables(const ModelConfig& config, const StackParameters& stack);

/// Returns √D, or 1 if the model does not scale its embeddings.
float embedding_scale(const ModelConfig& config);
/// Returns 1/√D, or 1 if the model does not scale the output layer's input.
float output_scale(const ModelConfig& config);

/// Returns the embedding row that training never changes: that of padding, with which the decoder
/// starts; −1 if none. A model that adds no position to it has none, because a norm would divide
/// the zero row by its own size.
int frozen_row(const ModelConfig& config);

/// Returns the number of vocabulary entries in the training loss, counted from the first: all, as
/// in transformers' classes, but without padding if it is the last, as in models of this program.
Index loss_classes(const ModelConfig& config);

/// Computes a stack's input rows (sections 3.4 and 3.5): x[t] = embedding of tokens[t] · √D +
/// position run.positions[t], normalized if the model has an embedding norm. x [T, D].
void embed_inputs(const StackParameters& stack, const StackRun& run, std::span<const int> tokens,
                  MatrixRef x);

/// Applies encoder layer `index` to x [T, D] in place: self-attention, feed-forward.
void encoder_layer(const EncoderLayer& layer, Index index, const StackRun& run, MatrixRef x);

/// Applies decoder layer `index` to x [T, D] in place: masked self-attention, cross-attention,
/// feed-forward.
void decoder_layer(const DecoderLayer& layer, Index index, const StackRun& run,
                   const DecoderMemory& memory, MatrixRef x);

/// Applies the norm after the last layer and the decoder's output scale, if the model has them. x
/// [T, D], in place.
void apply_final_norm(const StackParameters& stack, const StackRun& run, MatrixRef x);

}  // namespace attn
