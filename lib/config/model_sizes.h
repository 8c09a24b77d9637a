// The sizes of a model, and what they are checked against before anything is allocated.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "config/model_config.h"

namespace attn {

struct ModelFamily;

/// What the number of parameters depends on.
struct ModelSizes {
  std::uint64_t d_model = 0, encoder_layers = 0, decoder_layers = 0;
  std::uint64_t encoder_heads = 0, decoder_heads = 0, encoder_ffn = 0, decoder_ffn = 0;
  std::uint64_t vocab = 0, decoder_vocab = 0, positions = 0;
  std::uint64_t decoder_positions = 0, global_tokens = 0;
  bool share_embeddings = true, tie_word_embeddings = true, static_positions = true;
  bool final_norms = false, embedding_norms = false, attention_biases = true;
  bool feed_forward_biases = true, absolute_positions = true, norm_biases = true, gated = false;
  std::uint64_t head_dim = 0;         ///< 0: d_model / heads
  std::uint64_t key_value_heads = 0;  ///< 0: as many as heads
  RelativePositionBiasConfig relative;
  AttentionPattern encoder_attention, decoder_attention;
  const ModelFamily* family = nullptr;
};

/// One size key: its name, its alias (or empty), where it lives and its limit.
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

/// MarianConfig's key of a size.
const char* size_key_name(int ModelConfig::*member);

/// A config's sizes; what is below 0 counts as 0.
ModelSizes model_sizes(const ModelConfig& config);

/// Their values as a config has them, in the order of size_keys(), before anything is checked: 2^40
/// layers give a message and no overflow.
using RawSizes = std::array<double, size_key_count>;
RawSizes raw_sizes(const ModelConfig& config);
/// Copies checked ones into the config.
void set_sizes(const RawSizes& sizes, ModelConfig& config);

/// How messages name a key: `where`, and the key as the user wrote it (alias, section before it).
struct KeyNames {
  std::string where;
  std::string prefix;                          ///< "model." in experiment files
  std::map<std::string, std::string> aliases;  ///< key → alias, where the user wrote the alias

  std::string of(const std::string& key) const;
};

/// InputError for sizes below 1 or beyond their limits, saying what the weights of this config
/// would take with them.
void check_sizes(const RawSizes& sizes, const ModelConfig& config, const KeyNames& names);
/// InputError for head counts that do not divide d_model, ids outside the vocabularies, dropouts,
/// parts and patterns of attention that do not fit.
void check_consistency(const ModelConfig& config, const KeyNames& names);

}  // namespace attn
