// The shape of a model, with MarianConfig's keys. model_config.cpp holds the data,
// model_config_json.cpp reads and writes it, and model_config_check.cpp checks it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "config/attention_site.h"
#include "config/patterns/attention_pattern.h"

namespace attn {

/// The largest accepted sizes (docs/config.md). Beyond them the exit code is 3.
struct ModelLimits {
  static constexpr std::int64_t d_model = 65'536;
  static constexpr std::int64_t layers = 1'000;
  static constexpr std::int64_t ffn_dim = 1'048'576;
  static constexpr std::int64_t vocab_size = 10'000'000;
  static constexpr std::int64_t positions = 1'048'576;
};

enum class Activation { relu, gelu, swish, gelu_new };

/// LayerNorm (a row gets mean 0 and variance 1) or RMSNorm (root mean square 1).
enum class NormType { layer, rms };

/// A bias per head and distance bucket that is added to self-attention scores (Raffel et al.
/// 2020).
struct RelativePositionBiasConfig {
  int buckets = 0;         ///< relative_attention_num_buckets; 0: the model has none
  int max_distance = 128;  ///< relative_attention_max_distance: longer ones share a bucket
  bool per_layer = false;  ///< one table per layer (UMT5), or one per stack

  bool enabled() const { return buckets > 0; }
};

/// One model's shape. The field's comment is its key in config.json.
struct ModelConfig {
  std::string model_type =
      "marian";                ///< model_type: marian, pegasus, attn-demo or a family's (family.h)
  int d_model = 256;           ///< d_model (alias hidden_size)
  int encoder_layers = 3;      ///< encoder_layers (alias num_hidden_layers)
  int decoder_layers = 3;      ///< decoder_layers
  int encoder_heads = 4;       ///< encoder_attention_heads (num_attention_heads)
  int decoder_heads = 4;       ///< decoder_attention_heads
  int head_dim = 0;            ///< head_dim, T5's d_kv; 0: d_model / heads
  int key_value_heads = 0;     ///< key_value_heads; 0: as many as heads
  int encoder_ffn_dim = 1024;  ///< encoder_ffn_dim
  int decoder_ffn_dim = 1024;  ///< decoder_ffn_dim
  Activation activation =
      Activation::relu;                 ///< activation_function: relu, gelu, gelu_new, swish/silu
  int vocab_size = 8000;                ///< vocab_size
  int decoder_vocab_size = 8000;        ///< decoder_vocab_size; vocab_size if shared
  int max_positions = 512;              ///< max_position_embeddings
  int max_decoder_positions = 0;        ///< LED: max_decoder_position_embeddings; 0: the same
  bool scale_embedding = true;          ///< scale_embedding: embeddings times sqrt(d_model)
  bool static_positions = true;         ///< static_position_embeddings: sinusoids, not learned
  bool share_embeddings = true;         ///< share_encoder_decoder_embeddings
  bool tie_word_embeddings = true;      ///< tie_word_embeddings: output = decoder embedding
  bool normalize_before = false;        ///< normalize_before: pre-norm (Pegasus)
  bool add_final_layer_norm = false;    ///< add_final_layer_norm: a norm after each stack
  bool normalize_embedding = false;     ///< normalize_embedding
  bool scale_attention = true;          ///< scale_attention: scores / sqrt(head_dim)
  bool absolute_positions = true;       ///< sinusoidal or learned; T5 has none
  bool rotary = false;                  ///< position: rotary, on queries and keys
  RelativePositionBiasConfig relative;  ///< position: relative, as in T5
  NormType norm = NormType::layer;      ///< norm; T5: rms
  float norm_epsilon = 1e-5F;           ///< layer_norm_epsilon of T5
  bool gated = false;                   ///< feed_forward: gated; its hidden layer has a gate
  bool scale_output = false;            ///< scale_decoder_outputs: logits of hidden / sqrt(d_model)
  AttentionPattern encoder_attention;   ///< encoder_attention: its sparse pattern
  AttentionPattern decoder_attention;   ///< decoder_attention: that of its self-attention
  bool attention_biases = true;         ///< use_bias of BigBird-Pegasus
  bool feed_forward_biases = true;      ///< T5 has none
  /// alignment_heads: the cross-attention heads that align words best, [[layer, head], ...], best
  /// first, like the key of that name in Whisper's files; empty: not known
  std::vector<HeadIndex> alignment_heads;
  int global_tokens = 0;            ///< num_global_tokens: learned, in Pegasus-X's encoder
  float dropout = 0.1F;             ///< dropout (training only)
  float attention_dropout = 0.0F;   ///< attention_dropout (training only)
  float activation_dropout = 0.0F;  ///< activation_dropout (training only)
  int pad_token_id = 0;             ///< pad_token_id
  int eos_token_id = 0;             ///< eos_token_id
  int decoder_start_token_id = 0;   ///< decoder_start_token_id

  int encoder_head_dim() const { return head_dim > 0 ? head_dim : d_model / encoder_heads; }
  int decoder_head_dim() const { return head_dim > 0 ? head_dim : d_model / decoder_heads; }
  /// Columns of all heads together: d_model, unless head_dim is set.
  int encoder_inner_dim() const { return encoder_heads * encoder_head_dim(); }
  int decoder_inner_dim() const { return decoder_heads * decoder_head_dim(); }
  /// Heads of keys and values. Each serves the same number of query heads.
  int encoder_kv_heads() const { return key_value_heads > 0 ? key_value_heads : encoder_heads; }
  int decoder_kv_heads() const { return key_value_heads > 0 ? key_value_heads : decoder_heads; }
  /// Columns of all key heads, or of all value heads.
  int encoder_kv_dim() const { return encoder_kv_heads() * encoder_head_dim(); }
  int decoder_kv_dim() const { return decoder_kv_heads() * decoder_head_dim(); }
  int decoder_positions() const {
    return max_decoder_positions > 0 ? max_decoder_positions : max_positions;
  }
  /// The longest source and target that both stacks accept.
  int max_pair_length() const { return std::min(max_positions, decoder_positions()); }
};

/// A flag of config.json. flag_keys lists them in reading order.
struct FlagKey {
  const char* key;
  bool ModelConfig::*member;
};

inline constexpr std::array<FlagKey, 8> flag_keys = {{
    {"scale_embedding", &ModelConfig::scale_embedding},
    {"static_position_embeddings", &ModelConfig::static_positions},
    {"share_encoder_decoder_embeddings", &ModelConfig::share_embeddings},
    {"tie_word_embeddings", &ModelConfig::tie_word_embeddings},
    {"normalize_before", &ModelConfig::normalize_before},
    {"add_final_layer_norm", &ModelConfig::add_final_layer_norm},
    {"normalize_embedding", &ModelConfig::normalize_embedding},
    {"scale_attention", &ModelConfig::scale_attention},
}};

/// Throws InputError for sizes below 1 or beyond ModelLimits (with the memory that the weights
/// would take), head counts that do not divide d_model ("d_model 12 is not divisible by heads 5;
/// use 1, 2, 3, 4, 6 or 12"), token ids outside the vocabulary, and dropouts outside [0, 1).
/// `where` begins the message: a file, a preset or the command line.
void validate(const ModelConfig& config, const std::string& where);

/// Counts the weights, tied ones once. Returns nothing on 64-bit overflow. final_logits_bias and
/// sinusoids are buffers and do not count, as in PyTorch. (parameter_table.cpp)
std::optional<std::uint64_t> count_parameters(const ModelConfig& config);

/// Lists the divisors of d_model: "1, 2, 3, 4, 6 or 12".
std::string list_divisors(int d_model);

/// Reads and validates a model directory's config.json (already parsed). Missing keys get the
/// defaults of transformers' class for this model_type. `unknown` receives the keys that are not
/// used, for `inspect` to list. `notes` receives a sentence for each key that the class, and so
/// this program, ignores (such as normalize_before in a marian model). If tie_word_embeddings is
/// false, share_embeddings is false, too: transformers 5 unties all three tables.
ModelConfig model_config_from_directory(const Json& json, const std::string& where,
                                        std::vector<std::string>& unknown,
                                        std::vector<std::string>& notes);

/// Reads the `model` section of an experiment file. It has the same keys; an unknown key is an
/// InputError that names the nearest known one. Without vocab_size (then 0) the tokenizer decides.
/// With it, pad_token_id defaults to the last id and decoder_start_token_id to pad_token_id. The
/// result is not validated, because the caller may still change it.
ModelConfig model_config_from_experiment(const Json& json, const std::string& where);

/// Writes config.json of a model directory, with every key that transformers' class needs and the
/// model_type of model_type_for().
Json to_config_json(const ModelConfig& config);

/// Returns the model_type of the class of transformers that computes this config: the family's own,
/// else marian (post-norm) or pegasus (pre-norm with final norms). attn-demo if there is none.
std::string model_type_for(const ModelConfig& config);

std::string to_string(Activation activation);
/// Parses "relu", "gelu", "gelu_new", "swish" or "silu". Returns nothing for another name.
std::optional<Activation> parse_activation(std::string_view name);

/// Returns the double that prints like the float: 0.1, not 0.10000000149.
double shortest_double(float value);

// The sizes of a model, which are checked before anything is allocated.

struct ModelFamily;

/// Everything that the number of parameters depends on.
struct ModelSizes {
  std::uint64_t d_model = 0, encoder_layers = 0, decoder_layers = 0;
  std::uint64_t encoder_heads = 0, decoder_heads = 0, encoder_ffn = 0, decoder_ffn = 0;
  std::uint64_t vocab = 0, decoder_vocab = 0, positions = 0;
  std::uint64_t decoder_positions = 0, global_tokens = 0;
  bool share_embeddings = true, tie_word_embeddings = true, static_positions = true;
  bool final_norms = false, embedding_norms = false, attention_biases = true;
  bool feed_forward_biases = true, absolute_positions = true, norm_biases = true, gated = false;
  std::uint64_t head_dim = 0;         ///< 0: d_model / heads
  std::uint64_t key_value_heads = 0;  ///< 0: the same as heads
  RelativePositionBiasConfig relative;
  AttentionPattern encoder_attention, decoder_attention;
  const ModelFamily* family = nullptr;
};

/// One size key: its name, its alias (or empty), its members and its limit.
struct SizeKey {
  const char* key;
  const char* alias;
  std::uint64_t ModelSizes::*size;
  int ModelConfig::*member;
  std::int64_t limit;
};

inline constexpr std::size_t size_key_count = 10;

/// All size keys in the order in which they are checked.
const std::array<SizeKey, size_key_count>& size_keys();

/// Returns MarianConfig's key of a size.
const char* size_key_name(int ModelConfig::*member);

/// Returns a config's sizes. Negative values become 0. (parameter_table.cpp)
ModelSizes model_sizes(const ModelConfig& config);

/// Unchecked values in the order of size_keys(). They are doubles, so that 2^40 layers cause an
/// error message and not an overflow.
using RawSizes = std::array<double, size_key_count>;
RawSizes raw_sizes(const ModelConfig& config);
/// Copies checked sizes into the config.
void set_sizes(const RawSizes& sizes, ModelConfig& config);

/// Names a key in messages as the user wrote it, with its section and alias.
struct KeyNames {
  std::string where;
  std::string prefix;                          ///< "model." in experiment files
  std::map<std::string, std::string> aliases;  ///< key → alias, if the user wrote the alias

  std::string of(const std::string& key) const;
};

/// Throws InputError for sizes below 1 or beyond their limits, with the memory that the weights
/// would take.
void check_sizes(const RawSizes& sizes, const ModelConfig& config, const KeyNames& names);
/// Throws InputError for head counts that do not divide d_model, ids outside the vocabularies, and
/// dropouts, architecture settings or attention patterns that do not fit.
void check_consistency(const ModelConfig& config, const KeyNames& names);

}  // namespace attn
