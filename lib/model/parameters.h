// The parameters as the layers use them, and the one visitor over them. Names, shapes and ties are
// those of config/parameter_table.h.
//
// Initialising, loading, saving and training all walk visit_parameters(): a
// parameter that is added there exists everywhere.
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
  MultiHeadAttention global_attention;  ///< of global tokens (LED): query, key and value alone
  LayerNorm self_attention_norm;
  LayerNorm global_norm;  ///< in its place for Pegasus-X's own global tokens
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
struct StackParameters {
  Parameter embedding;       ///< [V, D]; one memory for both stacks where the vocabulary is shared
  Parameter positions;       ///< [P, D]; BART's first two rows belong to no position
  Parameter relative_bias;   ///< [buckets, H] biases of relative positions, of all layers (T5)
  Parameter global_tokens;   ///< [G, D] Pegasus-X's own, before each sentence; encoder only
  LayerNorm embedding_norm;  ///< where normalize_embedding
  LayerNorm final_norm;      ///< where add_final_layer_norm
};

struct ModelParameters {
  StackParameters encoder;
  StackParameters decoder;
  std::vector<EncoderLayer> encoder_layers;
  std::vector<DecoderLayer> decoder_layers;
  Parameter output;  ///< [V, D], as Hugging Face stores lm_head; logits = h · outputᵀ + bias
  Parameter logits_bias;  ///< [1, V]; a buffer there, not trained
};

/// One parameter as the visitor yields it.
struct ParameterInfo {
  std::string name;  ///< Hugging Face's: model.encoder.layers.0.self_attn.q_proj.weight
  std::vector<std::uint64_t> shape;  ///< as in the file; a Linear's weight is [out, in] there
  ParameterRole role = ParameterRole::weight;
  std::string tied_to;        ///< name of the parameter whose memory it shares; empty: its own
  bool buffer = false;        ///< not trained, may be absent from a file (ParameterEntry::buffer)
  bool saved = true;          ///< false: a file has no such tensor (ParameterEntry::written)
  bool transposed = false;    ///< a Linear's weight: the model uses it as [in, out]
  int fused_projections = 1;  ///< projections of one input that are one matrix: 3 for Q, K and V

  std::uint64_t elements() const;
};

/// All parameters of a model of this shape, in the order of the forward pass; a tied one after the
/// one it is tied to.
std::vector<ParameterInfo> list_parameters(const ModelConfig& config);

/// Parameters of this shape: `bind` says where each lies, in the order of list_parameters().
ModelParameters bind_parameters(const ModelConfig& config,
                                const std::function<void(const ParameterInfo&, Parameter&)>& bind);

/// Calls `visit` for each of them, in the same order.
void visit_parameters(const ModelConfig& config, const ModelParameters& parameters,
                      const std::function<void(const ParameterInfo&, const Parameter&)>& visit);

/// The biases of relative positions of a layer: its own, or the stack's; without data: none.
inline const Parameter& relative_bias_of(const StackParameters& stack,
                                         const MultiHeadAttention& self_attention) {
  const Parameter& own = self_attention.extras.relative_bias;
  return own.exists() ? own : stack.relative_bias;
}

/// A parameter whose numbers lie at `data` in the file's order.
Parameter parameter_at(const ParameterInfo& info, float* data);

}  // namespace attn
