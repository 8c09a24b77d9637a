// The families of models: what each class of transformers computes, and the names in its files.
// family_table.cpp has one row per family. Code that reads, counts, loads or writes a model asks
// here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace attn {

class KeyReader;

/// Names of an attention's projections, after "layers.N.".
struct AttentionNames {
  std::string_view query = "self_attn.q_proj";
  std::string_view key = "self_attn.k_proj";
  std::string_view value = "self_attn.v_proj";
  std::string_view output = "self_attn.out_proj";
};

/// Names of a layer's parts.
struct LayerNames {
  AttentionNames self = {};
  std::string_view self_norm = "self_attn_layer_norm";
  AttentionNames cross = {"encoder_attn.q_proj", "encoder_attn.k_proj", "encoder_attn.v_proj",
                          "encoder_attn.out_proj"};
  std::string_view cross_norm = "encoder_attn_layer_norm";
  std::string_view first = "fc1";  ///< with a gate: "fc1_0", and the gate "fc1_1"
  std::string_view second = "fc2";
  std::string_view feed_forward_norm = "final_layer_norm";
};

/// A class's own key for one of MarianConfig's sizes. Two sizes may share a key.
struct FamilySizeKey {
  int ModelConfig::*member;
  const char* key;
  const char* alias = "";
};

/// Which global tokens a family's encoder has, if its attention has any.
enum class GlobalTokenType {
  plain,      ///< tokens of the sentence, chosen by position
  projected,  ///< the same, with separate query, key and value projections (LED)
  learned     ///< learned rows before each sentence, with a separate norm (Pegasus-X)
};

/// Sinusoids with angles p / 10000^(i / (D/2)), or with D/2 − 1 instead of D/2, computed in double
/// or in float32.
enum class SinusoidVariant { marian, pegasus_x, m2m100 };

struct ModelFamily {
  std::string_view model_type;  ///< "bart"
  std::string_view class_name;  ///< "BartForConditionalGeneration"
  /// True if the config has MarianConfig's keys. They combine norms, positions and tables freely,
  /// and the model is written under the type whose class computes it (model_type_for()).
  bool uses_marian_keys = false;
  /// Flags that the class ignores in its config. apply_fixed_settings() sets them.
  std::vector<bool ModelConfig::*> fixed_flags = {};
  std::string_view tensor_prefix = "model.";
  std::string_view layers_name = "layers";
  LayerNames encoder = {};
  LayerNames decoder = {};
  /// Name of the relative position bias after "layers.N.", one per stack or per layer.
  std::string_view relative_bias = "";
  std::string_view final_norm = "layer_norm";
  bool pre_norm = false;  ///< with a final norm after each stack
  bool embedding_norm = false;
  NormType norm = NormType::layer;
  bool biases = true;  ///< of all projections
  bool absolute_positions = true;
  bool learned_positions = true;
  SinusoidVariant sinusoids = SinusoidVariant::marian;  ///< if positions are not learned
  /// Rows of the position table before the first position.
  int position_offset = 0;
  /// The first position is pad_token_id + 1, and the padding token has none.
  bool positions_start_after_pad = false;
  bool scale_embedding = false;  ///< the class's default or fixed value
  bool scale_attention = true;
  GlobalTokenType globals = GlobalTokenType::plain;
  bool logits_bias = true;
  /// Output and embedding share a table unless the file holds two different ones. The class
  /// ignores tie_word_embeddings.
  bool ties_if_tensors_match = false;
  std::vector<FamilySizeKey> size_names = {};  ///< sizes whose keys differ from MarianConfig's.
                                               ///< A class with such keys has none of the others.
  /// Keys of the encoder's and decoder's position limits. The first is null if the class has no
  /// limit, the second empty if one number serves both.
  const char* positions_key = "max_position_embeddings";
  std::string_view decoder_positions_key = "";
  /// Reads keys that only this class has, most of them for attention. Throws InputError for invalid
  /// values. Null: there are none.
  void (*read_class_keys)(KeyReader& reader, ModelConfig& config) = nullptr;
  /// Writes the same keys.
  void (*write_class_keys)(const ModelConfig& config, Json& json) = nullptr;
  bool decoder_starts_with_eos = false;  ///< in a new model, unless its tokenizer has <pad> last
  int layers = 12;                       ///< these are the defaults of the class
  int d_model = 1024;
  int heads = 16;
  int ffn_dim = 4096;
  int vocab_size = 50265;
  int positions = 1024;
  int decoder_positions = 0;  ///< 0: the same
  Activation activation = Activation::gelu;
  bool gated = false;  ///< the feed-forward's hidden layer has a gate
  int pad = 1;
  int eos = 2;
  int start = 2;

  /// True if the class ignores this flag in its config.
  bool fixes(bool ModelConfig::*flag) const;
};

const std::vector<ModelFamily>& families();

/// Returns null for an unknown model_type.
const ModelFamily* find_family(std::string_view model_type);

/// Returns the family of a config that has been read. Throws std::logic_error for an unknown
/// model_type.
const ModelFamily& family_of(std::string_view model_type);
const ModelFamily& family_of(const ModelConfig& config);

/// Lists every valid model_type, "marian, pegasus, … attn-demo", with `link` before the last.
std::string known_model_types(const char* link);

/// Sets what the class fixes regardless of the config: norms, positions, shared embeddings.
void apply_fixed_settings(const ModelFamily& family, ModelConfig& config);

/// Returns the defaults of the class.
ModelConfig family_defaults(const ModelFamily& family);

/// Reads the class's own keys, such as those for attention and decoder positions. Throws InputError
/// for invalid values.
void read_family_keys(KeyReader& reader, const ModelFamily& family, ModelConfig& config);

/// Replaces MarianConfig's keys with those of the class.
void write_family_keys(const ModelFamily& family, const ModelConfig& config, Json& json);

}  // namespace attn
