// The sizes of a model before they are known to be sane: checked against their limits in floating
// point, so that 2^40 layers give a message and not an overflow.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

#include "config/model_config.h"

namespace attn {

/// What the number of parameters depends on. T: double for estimates, uint64_t for exact counts.
template <typename T>
struct ModelSizes {
  T d_model{}, encoder_layers{}, decoder_layers{}, encoder_heads{}, decoder_heads{};
  T encoder_ffn{}, decoder_ffn{}, vocab{}, decoder_vocab{}, positions{};
  bool share = true, tie = true, static_positions = true;
  bool final_norms = false, embedding_norms = false;
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

WideSizes widen(const ModelConfig& config);
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
/// InputError for head counts that do not divide d_model, ids outside the vocabularies, dropouts.
void check_relations(const ModelConfig& config, const KeyNames& names);

/// Weights of the whole model, tied ones once. final_logits_bias and sinusoids are buffers, which
/// PyTorch does not count either.
template <typename T>
T parameters_of(const ModelSizes<T>& s) {
  const T d = s.d_model;
  const T norm = T{2} * d;
  const T attention = T{4} * (d * d + d);
  const T encoder_layer = attention + T{2} * d * s.encoder_ffn + s.encoder_ffn + d + T{2} * norm;
  const T decoder_layer =
      T{2} * attention + T{2} * d * s.decoder_ffn + s.decoder_ffn + d + T{3} * norm;
  T total = s.vocab * d + s.encoder_layers * encoder_layer + s.decoder_layers * decoder_layer;
  if (!s.share) total += s.decoder_vocab * d;
  if (!s.tie) total += s.decoder_vocab * d;
  if (!s.static_positions) total += T{2} * s.positions * d;
  if (s.final_norms) total += T{2} * norm;
  if (s.embedding_norms) total += T{2} * norm;
  return total;
}

}  // namespace attn
