// The parameters as the layers use them, and the one visitor over them. Names, shapes and ties are
// defined in config/parameter_table.h.
//
// Initialization, loading, saving and training all walk visit_parameters(), so a parameter added
// there exists everywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "config/family.h"
#include "config/model_config.h"
#include "config/parameter_table.h"
#include "nn/attention/multi_head_attention.h"
#include "nn/feed_forward.h"
#include "nn/layer_norm.h"

namespace attn {

struct EncoderLayer {
  MultiHeadAttention self_attention;
  MultiHeadAttention global_attention;  ///< for global tokens (LED): query, key and value only
  LayerNorm self_attention_norm;
  LayerNorm global_norm;  ///< replaces the norm for Pegasus-X's global tokens
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

/// The parameters that both stacks have besides their layers.
struct StackParameters {
  Parameter embedding;      ///< [V, D]; one memory for both stacks if the vocabulary is shared
  Parameter positions;      ///< [P, D]; BART's first two rows belong to no position
  Parameter relative_bias;  ///< [buckets, H] relative position biases of all layers (T5)
  Parameter
      global_tokens;  ///< [G, D] Pegasus-X's learned tokens before each sentence; encoder only
  LayerNorm embedding_norm;  ///< if normalize_embedding
  LayerNorm final_norm;      ///< if add_final_layer_norm
};

struct ModelParameters {
  StackParameters encoder;
  StackParameters decoder;
  std::vector<EncoderLayer> encoder_layers;
  std::vector<DecoderLayer> decoder_layers;
  Parameter output;  ///< [V, D], as Hugging Face stores lm_head; logits = h · outputᵀ + bias
  Parameter logits_bias;  ///< [1, V]; a buffer in transformers, not trained
};

/// The description of one parameter, as the visitor yields it.
struct ParameterInfo {
  std::string name;  ///< Hugging Face's name: model.encoder.layers.0.self_attn.q_proj.weight
  std::vector<std::uint64_t> shape;  ///< as in the file, where a Linear's weight is [out, in]
  ParameterRole role = ParameterRole::weight;
  std::string tied_to;        ///< name of the parameter whose memory it shares; empty: own memory
  bool buffer = false;        ///< not trained, may be absent from a file (ParameterEntry::buffer)
  bool saved = true;          ///< false: files have no such tensor (ParameterEntry::written)
  bool transposed = false;    ///< a Linear's weight, which the model uses as [in, out]
  int fused_projections = 1;  ///< projections of one input that form one matrix: 3 for Q, K and V

  std::uint64_t elements() const;
};

/// Returns all parameters of a model of this shape in the order of the forward pass; a tied
/// parameter follows the one it is tied to.
std::vector<ParameterInfo> list_parameters(const ModelConfig& config);

/// Returns parameters of this shape; `bind` sets the memory of each, in the order of
/// list_parameters().
ModelParameters bind_parameters(const ModelConfig& config,
                                const std::function<void(const ParameterInfo&, Parameter&)>& bind);

/// Calls `visit` for each parameter, in the same order.
void visit_parameters(const ModelConfig& config, const ModelParameters& parameters,
                      const std::function<void(const ParameterInfo&, const Parameter&)>& visit);

/// Returns the relative position biases of a layer: its own or the stack's; without data if there
/// are none.
inline const Parameter& relative_bias_of(const StackParameters& stack,
                                         const MultiHeadAttention& self_attention) {
  const Parameter& own = self_attention.extras.relative_bias;
  return own.exists() ? own : stack.relative_bias;
}

/// Returns a parameter whose numbers are at `data`, in the file's order.
Parameter parameter_at(const ParameterInfo& info, float* data);

}  // namespace attn
