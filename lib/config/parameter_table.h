// Every parameter of the model, described once: its name in a weights file, its shape, its role,
// and the part of the model that holds it. Counting (here), listing (config/model_report) and the
// visitor for initializing, loading, saving and training (model/parameters) all read this table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/model_config.h"
#include "config/parameter_part.h"

namespace attn {

/// One parameter.
struct ParameterEntry {
  std::string name;                  ///< after its block's prefix: "self_attn.q_proj.weight"
  std::vector<std::uint64_t> shape;  ///< as in the file; a projection's weight is [out, in] there
  ParameterPart part;
  ParameterRole role;
  std::string tied_to;  ///< whole name of the parameter whose memory it shares; empty: its own
  bool buffer = false;  ///< not trained; sinusoids, final_logits_bias may be absent from a file
  bool saved = true;    ///< false: the class has no such tensor
  int fused_projections = 1;  ///< projections of one input that are one matrix: 3 for Q, K and V
};

enum class ParameterBlockType { embeddings, encoder_layers, decoder_layers, final_norms, output };

/// Parameters that occur together: those of a layer, or those before and after the layers.
struct ParameterBlock {
  ParameterBlockType kind;
  bool encoder = true;       ///< of which stack; for output, neither
  std::string prefix;        ///< of every name; layers have their number behind it: "….layers.0."
  std::uint64_t repeat = 1;  ///< as many layers
  std::vector<ParameterEntry> entries;
};

/// In the order of the forward pass; a tied parameter after the one it is tied to.
std::vector<ParameterBlock> parameter_table(const ModelSizes& sizes);

/// Weights of the whole model: tied ones once, buffers not, as PyTorch counts; nothing where they
/// leave 64 bits.
std::optional<std::uint64_t> count_parameters(const ModelSizes& sizes);

}  // namespace attn
