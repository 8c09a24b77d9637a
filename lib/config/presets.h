// The shapes of well-known models.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace attn {

enum class ModelArchitecture { encoder, decoder, encoder_decoder };

struct Preset {
  std::string name;   ///< as people type it: "bert-base"
  std::string title;  ///< in its authors' spelling: "BERT-base"
  ModelArchitecture kind = ModelArchitecture::encoder_decoder;
  int d_model = 0;
  int heads = 0;
  int head_dim = 0;
  int layers = 0;  ///< layers of one stack
  int ffn_dim = 0;
  int key_value_heads = 0;  ///< fewer than heads in grouped-query attention (LLaMA 2 70B: 8)
  bool biases = true;       ///< true if attention's projections have biases
  std::string note;  ///< differences from this project's Transformer, in a few words; may be empty
};

/// Returns all presets in the order in which they are listed.
const std::vector<Preset>& presets();

/// Returns a preset by name. Throws InputError that names the nearest preset if there is none.
const Preset& find_preset(std::string_view name);

/// Returns the preset as a runnable model. Throws InputError for encoder-only and decoder-only
/// ones.
ModelConfig preset_model_config(const Preset& preset);

}  // namespace attn
