// The published families besides Marian and Pegasus: what each class of transformers computes, and
// what its files call things. One row a family; whoever reads, counts, loads or writes asks here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/model_config.h"

namespace attn {

class KeyReader;

/// Names of an encoder's attention after "layers.N."; the decoder's are Marian's.
struct AttentionNames {
  std::string_view query = "self_attn.q_proj";
  std::string_view key = "self_attn.k_proj";
  std::string_view value = "self_attn.v_proj";
  std::string_view output = "self_attn.out_proj";
};

struct Family {
  std::string_view model_type;  ///< "bart"
  std::string_view class_name;  ///< "BartForConditionalGeneration"
  std::string_view base = "model.";
  AttentionNames encoder_attention = {};
  std::string_view final_norm = "layer_norm";
  bool pre_norm = false;  ///< with a norm behind each stack
  bool embedding_norm = false;
  bool learned_positions = true;
  /// Rows of the position table before that of the first position.
  int first_position = 0;
  bool scales_embedding = true;  ///< reads scale_embedding
  bool scale_embedding = false;  ///< its default
  bool global_projections = false;
  bool own_global_tokens = false;  ///< learned ones, before the sentence
  bool logits_bias = true;
  /// The encoder's positions and the decoder's; the second empty: one number for both.
  std::string_view positions_key = "max_position_embeddings";
  std::string_view decoder_positions_key = "";
  bool forces_end = false;       ///< forced_eos_token_id is eos where nothing is said
  bool starts_with_eos = false;  ///< decoder_start_token_id with a tokenizer of its own
  int layers = 12;               ///< defaults of the class, as the next ones
  int vocab_size = 50265;
  int positions = 1024;
  int decoder_positions = 0;  ///< 0: as many
  Activation activation = Activation::gelu;
  int pad = 1;
  int eos = 2;
  int start = 2;
  int bos = -1;
};

const std::vector<Family>& families();

/// The family of a model_type; null for marian, pegasus, attn-demo and unknown ones.
const Family* family_of(std::string_view model_type);

/// "marian, pegasus, …, attn-demo", all that a config may say, with `link` before the last.
std::string known_model_types(const char* link);

/// What the class fixes whatever a config says: norms, positions, one table.
void set_fixed(const Family& family, ModelConfig& config);

/// The defaults of the class.
ModelConfig family_defaults(const Family& family);

/// The class's own keys: windows, blocks, global tokens, biases, positions of the decoder.
/// InputError for values that it cannot have.
void read_family_keys(KeyReader& reader, const Family& family, ModelConfig& config);

/// The same keys again.
void write_family_keys(const Family& family, const ModelConfig& config, Json& json);

}  // namespace attn
