// The sizes of a model before they are known to be sane: checked against their limits in floating
// point, so that 2^40 layers give a message and not an overflow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "config/model_config.h"

namespace attn {

struct Family;

/// What a stack's self-attention has besides its projections; 0: nothing of the kind.
template <typename T>
struct AttentionSizes {
  T features{}, head_dim{};        ///< performer: [m, K]
  T rank{};                        ///< linformer: k
  T rotation_rows{}, rotations{};  ///< lsh: [H · K, rounds · buckets / 2]
  bool shared_query_key = false;   ///< lsh
};

/// What the number of parameters depends on. T: double for estimates, uint64_t for exact counts.
template <typename T>
struct ModelSizes {
  T d_model{}, encoder_layers{}, decoder_layers{}, encoder_heads{}, decoder_heads{};
  T encoder_ffn{}, decoder_ffn{}, vocab{}, decoder_vocab{}, positions{};
  bool share = true, tie = true, static_positions = true;
  bool final_norms = false, embedding_norms = false, attention_biases = true;
  T decoder_positions{}, global_tokens{};
  AttentionSizes<T> encoder_kind, decoder_kind;
  const Family* family = nullptr;  ///< null: Marian's names
};

using WideSizes = ModelSizes<double>;

/// One size key: its name, its alias (or empty), where it lives and its limit.
struct SizeKey {
  const char* key;
  const char* alias;
  double WideSizes::*wide;
  int ModelConfig::*member;
  std::int64_t limit;
};

/// All size keys in the order in which they are checked.
const std::array<SizeKey, 10>& size_keys();

/// The config's sizes, before anything is checked.
WideSizes wide_sizes(const ModelConfig& config);
/// The same in whole numbers; what is below 0 counts as 0.
ModelSizes<std::uint64_t> exact_sizes(const ModelConfig& config);
/// Copies checked sizes into the config.
void narrow(const WideSizes& shape, ModelConfig& config);

/// How messages name a key: `where`, and the key as the user wrote it (alias, section before it).
struct KeyNames {
  std::string where;
  std::string prefix;                          ///< "model." in experiment files
  std::map<std::string, std::string> aliases;  ///< key → alias, where the user wrote the alias

  std::string of(const std::string& key) const;
};

/// InputError for sizes below 1 or beyond their limits, saying what the weights would take.
void check_sizes(const WideSizes& shape, const KeyNames& names);
/// InputError for head counts that do not divide d_model, ids outside the vocabularies, dropouts,
/// patterns of attention that do not fit.
void check_relations(const ModelConfig& config, const KeyNames& names);

}  // namespace attn
