// Every parameter of the model, and the one visitor over them.
//
// Initialising, loading, saving and training all walk visit_parameters(): a
// parameter that is added there exists everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/layer_norm.h"

namespace attn {

struct EncoderLayer {
  MultiHeadAttention self_attention;
  LayerNorm self_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

struct DecoderLayer {
  MultiHeadAttention self_attention;
  LayerNorm self_attention_norm;
  MultiHeadAttention cross_attention;
  LayerNorm cross_attention_norm;
  FeedForward feed_forward;
  LayerNorm feed_forward_norm;
};

/// What both stacks have besides their layers.
struct StackEnds {
  Parameter embedding;       ///< [V, D]; one memory for both stacks where the vocabulary is shared
  Parameter positions;       ///< [P, D]
  LayerNorm embedding_norm;  ///< where normalize_embedding
  LayerNorm final_norm;      ///< where add_final_layer_norm
};

struct ModelParameters {
  StackEnds encoder;
  StackEnds decoder;
  std::vector<EncoderLayer> encoder_layers;
  std::vector<DecoderLayer> decoder_layers;
  Parameter output;  ///< [V, D], as Hugging Face stores lm_head; logits = h · outputᵀ + bias
  Parameter logits_bias;  ///< [1, V]; a buffer there, not trained
};

/// What a parameter is for: decides how it is initialised.
enum class ParameterRole {
  weight,
  bias,
  norm_weight,
  norm_bias,
  embedding,
  positions,
  logits_bias
};

/// One parameter as the visitor yields it.
struct ParameterInfo {
  std::string name;  ///< Hugging Face's: model.encoder.layers.0.self_attn.q_proj.weight
  std::vector<std::uint64_t> shape;  ///< as in the file; a Linear's weight is [out, in] there
  Parameter* parameter = nullptr;    ///< as the model uses it; a Linear's weight is [in, out]
  ParameterRole role = ParameterRole::weight;
  std::string tied_to;      ///< name of the parameter whose memory it shares; empty: its own
  bool optional = false;    ///< may be absent from a file (sinusoids, final_logits_bias)
  bool transposed = false;  ///< file order is [columns, rows] of `parameter`
  int side_by_side = 1;     ///< projections of one input that are one matrix: 3 for Q, K and V
};

/// Calls `visit` for every parameter of a model of this shape, in the order of the forward pass; a
/// tied one after the one it is tied to. Sizes `parameters` to the config first.
void visit_parameters(const ModelConfig& config, ModelParameters& parameters,
                      const std::function<void(const ParameterInfo&)>& visit);

}  // namespace attn
