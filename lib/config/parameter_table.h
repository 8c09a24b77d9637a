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
  std::vector<std::uint64_t> shape;  ///< as in the file, where a projection's weight is [out, in]
  ParameterPart part;
  ParameterRole role;
  std::string tied_to;  ///< full name of the parameter whose memory it shares; empty: its own
  bool buffer = false;  ///< not trained; sinusoids and final_logits_bias may be missing in a file
  bool saved = true;    ///< false: the class has no such tensor
  int fused_projections =
      1;  ///< number of projections of one input in one matrix: 3 for Q, K and V
};

enum class ParameterBlockType { embeddings, encoder_layers, decoder_layers, final_norms, output };

/// Parameters that occur together: those of a layer, or those before and after the layers.
struct ParameterBlock {
  ParameterBlockType kind;
  bool encoder = true;       ///< the stack; for the output, neither
  std::string prefix;        ///< of every name; layers have their number behind it: "….layers.0."
  std::uint64_t repeat = 1;  ///< number of layers
  std::vector<ParameterEntry> entries;
};

/// Returns the parameters in the order of the forward pass. A tied parameter comes after the one
/// that it is tied to.
std::vector<ParameterBlock> parameter_table(const ModelSizes& sizes);

/// Counts the weights of the whole model: tied ones once and buffers not at all, as PyTorch counts
/// them. Returns nothing if they exceed 64 bits.
std::optional<std::uint64_t> count_parameters(const ModelSizes& sizes);

}  // namespace attn
