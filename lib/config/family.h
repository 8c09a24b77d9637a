// The families of models: what each class of transformers computes, and what its files call things.
// One row a family in family.cpp; whoever reads, counts, loads or writes asks here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace attn {

class KeyReader;

/// Names of an attention's projections after "layers.N.".
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

/// What a class calls a size of MarianConfig's; two sizes may share a key.
struct FamilySizeKey {
  int ModelConfig::*member;
  const char* key;
  const char* alias = "";
};

/// How a family's encoder treats global tokens, where its attention has any.
enum class GlobalTokenType {
  plain,      ///< tokens of the sentence, chosen by their places
  projected,  ///< the same with query, key and value projections of their own (LED)
  learned  ///< rows of the model's own before each sentence, with a norm of their own (Pegasus-X)
};

/// Sinusoids whose angles are p / 10000^(i / (D/2)), or with D/2 − 1 in the place of D/2, in double
/// or in float32.
enum class SinusoidVariant { marian, pegasus_x, m2m100 };

struct ModelFamily {
  std::string_view model_type;  ///< "bart"
  std::string_view class_name;  ///< "BartForConditionalGeneration"
  /// Its config has MarianConfig's keys: a model may combine norms, positions and tables by them,
  /// and is then written under the type whose class computes it (model_type_for()).
  bool uses_marian_keys = false;
  /// Flags that the class does not ask its config for: apply_fixed_settings() says them.
  std::vector<bool ModelConfig::*> fixed_flags = {};
  std::string_view tensor_prefix = "model.";
  std::string_view layers_name = "layers";
  LayerNames encoder = {};
  LayerNames decoder = {};
  /// Where a stack's table of relative positions stands, after "layers.N."; the stack's or each's.
  std::string_view relative_bias = "";
  std::string_view final_norm = "layer_norm";
  bool pre_norm = false;  ///< with a norm behind each stack
  bool embedding_norm = false;
  NormType norm = NormType::layer;
  bool biases = true;  ///< of all projections
  bool absolute_positions = true;
  bool learned_positions = true;
  SinusoidVariant sinusoids = SinusoidVariant::marian;  ///< where positions are not learned
  /// Rows of the position table before that of the first position.
  int position_offset = 0;
  /// The first position is pad_token_id + 1, and pad itself has none.
  bool positions_start_after_pad = false;
  bool scale_embedding = false;  ///< default of the class, or what it fixes
  bool scale_attention = true;
  GlobalTokenType globals = GlobalTokenType::plain;
  bool logits_bias = true;
  /// Output and embedding are one table unless the file holds two that differ, whatever
  /// tie_word_embeddings says.
  bool ties_if_tensors_match = false;
  std::vector<FamilySizeKey> size_names =
      {};  ///< those that are not MarianConfig's;
           ///< such a class has no other keys of Marian's either
  /// The encoder's positions and the decoder's; the first null: the class has no limit; the second
  /// empty: one number for both.
  const char* positions_key = "max_position_embeddings";
  std::string_view decoder_positions_key = "";
  /// Reads the class's own keys, most of them of attention: windows, blocks, global tokens, biases.
  /// InputError for values that it cannot have. Null: it has none.
  void (*read_class_keys)(KeyReader& reader, ModelConfig& config) = nullptr;
  /// The same keys again.
  void (*write_class_keys)(const ModelConfig& config, Json& json) = nullptr;
  bool decoder_starts_with_eos =
      false;        ///< a new model's start, unless its tokenizer has <pad> last
  int layers = 12;  ///< defaults of the class, as the next ones
  int d_model = 1024;
  int heads = 16;
  int ffn_dim = 4096;
  int vocab_size = 50265;
  int positions = 1024;
  int decoder_positions = 0;  ///< 0: as many
  Activation activation = Activation::gelu;
  bool gated = false;  ///< the feed-forward's hidden layer
  int pad = 1;
  int eos = 2;
  int start = 2;

  /// Whether the class computes one thing whatever its config says of a flag.
  bool fixes(bool ModelConfig::*flag) const;
};

const std::vector<ModelFamily>& families();

/// Null for a model_type that is unknown.
const ModelFamily* find_family(std::string_view model_type);

/// The family of a config that has been read; std::logic_error for an unknown model_type.
const ModelFamily& family_of(std::string_view model_type);
const ModelFamily& family_of(const ModelConfig& config);

/// "marian, pegasus, …, attn-demo", all that a config may say, with `link` before the last.
std::string known_model_types(const char* link);

/// What the class fixes whatever a config says: norms, positions, one table.
void apply_fixed_settings(const ModelFamily& family, ModelConfig& config);

/// The defaults of the class.
ModelConfig family_defaults(const ModelFamily& family);

/// The class's own keys: those of its attention, positions of the decoder. InputError for values
/// that it cannot have.
void read_family_keys(KeyReader& reader, const ModelFamily& family, ModelConfig& config);

/// Makes of MarianConfig's keys those of the class.
void write_family_keys(const ModelFamily& family, const ModelConfig& config, Json& json);

// T5's rows of the table of families (family.h), and the keys that no other class has: d_kv,
// relative positions, the feed-forward's form, the output's scale. InputError for buckets that are
// odd or fewer than 4, and for a greatest distance within the buckets that hold one distance each.

/// Raffel et al. 2020; with a gate also v1.1, FLAN-T5 and MADLAD-400.
ModelFamily t5_family();
/// The same, gated, and its output never scaled.
ModelFamily mt5_family();
/// mT5 with a table of relative positions in every layer, and T5's scale of the output.
ModelFamily umt5_family();

}  // namespace attn
