#include "config/model_sizes.h"

#include <cmath>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "config/family.h"
#include "config/parameter_table.h"

namespace attn {

const std::array<SizeKey, 10>& size_keys() {
  using C = ModelConfig;
  using L = ModelLimits;
  using W = WideSizes;
  static const std::array<SizeKey, 10> keys = {{
      {"d_model", "hidden_size", &W::d_model, &C::d_model, L::d_model},
      {"encoder_layers", "num_hidden_layers", &W::encoder_layers, &C::encoder_layers, L::layers},
      {"decoder_layers", "", &W::decoder_layers, &C::decoder_layers, L::layers},
      {"encoder_attention_heads", "num_attention_heads", &W::encoder_heads, &C::encoder_heads,
       L::d_model},
      {"decoder_attention_heads", "", &W::decoder_heads, &C::decoder_heads, L::d_model},
      {"encoder_ffn_dim", "", &W::encoder_ffn, &C::encoder_ffn_dim, L::ffn_dim},
      {"decoder_ffn_dim", "", &W::decoder_ffn, &C::decoder_ffn_dim, L::ffn_dim},
      {"vocab_size", "", &W::vocab, &C::vocab_size, L::vocab_size},
      {"decoder_vocab_size", "", &W::decoder_vocab, &C::decoder_vocab_size, L::vocab_size},
      {"max_position_embeddings", "", &W::positions, &C::max_positions, L::positions},
  }};
  return keys;
}

namespace {

/// Sizes that may still be wrong give 0.
template <typename T>
AttentionSizes<T> attention_sizes(const AttentionPattern& pattern, int d_model, int heads) {
  AttentionSizes<T> sizes;
  const auto size = [](int n) { return static_cast<T>(std::max(n, 0)); };
  if (pattern.type == PatternType::linformer) sizes.rank = size(pattern.rank);
  if (d_model < 1 || heads < 1) return sizes;
  const int head_dim = std::max(d_model / heads, 1);
  if (pattern.type == PatternType::performer) {
    sizes.head_dim = size(head_dim);
    sizes.features = size(pattern.features_of(head_dim));
  }
  if (pattern.type == PatternType::lsh) {
    sizes.rotation_rows = size(d_model);
    sizes.rotations = size(pattern.rounds) * size(pattern.buckets / 2);
    sizes.shared_query_key = true;
  }
  return sizes;
}

template <typename T>
void set_attention_sizes(const ModelConfig& config, ModelSizes<T>& sizes) {
  sizes.encoder_kind =
      attention_sizes<T>(config.encoder_attention, config.d_model, config.encoder_heads);
  sizes.decoder_kind =
      attention_sizes<T>(config.decoder_attention, config.d_model, config.decoder_heads);
}

}  // namespace

WideSizes wide_sizes(const ModelConfig& config) {
  WideSizes shape;
  for (const SizeKey& size : size_keys()) shape.*size.wide = config.*size.member;
  shape.share = config.share_embeddings;
  shape.tie = config.tie_word_embeddings;
  shape.static_positions = config.static_positions;
  shape.final_norms = config.add_final_layer_norm;
  shape.embedding_norms = config.normalize_embedding;
  shape.attention_biases = config.attention_biases;
  shape.decoder_positions = config.decoder_positions();
  shape.global_tokens = config.global_tokens;
  shape.family = family_of(config.model_type);
  set_attention_sizes(config, shape);
  return shape;
}

ModelSizes<std::uint64_t> exact_sizes(const ModelConfig& config) {
  const auto u = [](int n) { return std::uint64_t{to_size(std::max(n, 0))}; };
  ModelSizes<std::uint64_t> sizes;
  sizes.d_model = u(config.d_model);
  sizes.encoder_layers = u(config.encoder_layers);
  sizes.decoder_layers = u(config.decoder_layers);
  sizes.encoder_heads = u(config.encoder_heads);
  sizes.decoder_heads = u(config.decoder_heads);
  sizes.encoder_ffn = u(config.encoder_ffn_dim);
  sizes.decoder_ffn = u(config.decoder_ffn_dim);
  sizes.vocab = u(config.vocab_size);
  sizes.decoder_vocab = u(config.decoder_vocab_size);
  sizes.positions = u(config.max_positions);
  sizes.share = config.share_embeddings;
  sizes.tie = config.tie_word_embeddings;
  sizes.static_positions = config.static_positions;
  sizes.final_norms = config.add_final_layer_norm;
  sizes.embedding_norms = config.normalize_embedding;
  sizes.attention_biases = config.attention_biases;
  sizes.decoder_positions = u(config.decoder_positions());
  sizes.global_tokens = u(config.global_tokens);
  sizes.family = family_of(config.model_type);
  set_attention_sizes(config, sizes);
  return sizes;
}

void narrow(const WideSizes& shape, ModelConfig& config) {
  for (const SizeKey& size : size_keys()) {
    config.*size.member = static_cast<int>(shape.*size.wide);
  }
}

std::string KeyNames::of(const std::string& key) const {
  const auto alias = aliases.find(key);
  return prefix + (alias == aliases.end() ? key : alias->second);
}

namespace {

std::string memory_text(const WideSizes& shape) {
  constexpr double kMost = 1.8e19;  // just below 2^64 bytes
  const double bytes = 4.0 * parameters_of(shape);
  return bytes < kMost ? "about " + human_bytes(bytes) : "more than 18 EB";
}

void check_heads(const ModelConfig& config, const KeyNames& names, const SizeKey& heads) {
  if (config.d_model % (config.*heads.member) == 0) return;
  throw InputError("{}: {} {} is not divisible by {} {}; use {}", names.where, names.of("d_model"),
                   config.d_model, names.of(heads.key), config.*heads.member,
                   list_divisors(config.d_model));
}

/// One id against one vocabulary, named by its size key.
void check_id(const char* key, int id, const SizeKey& vocabulary, const KeyNames& names,
              const ModelConfig& config) {
  const int size = config.*vocabulary.member;
  if (id >= 0 && id < size) return;
  throw InputError("{}: {} {} is outside the vocabulary; {} {} allows 0 to {}", names.where,
                   names.of(key), id, names.of(vocabulary.key), size, size - 1);
}

void check_dropout(const char* key, float value, const KeyNames& names) {
  if (value >= 0.0F && value < 1.0F) return;  // false for NaN
  throw InputError("{}: {} {} is out of range; use a number from 0 to below 1", names.where,
                   names.of(key), value);
}

}  // namespace

void check_sizes(const WideSizes& shape, const KeyNames& names) {
  for (const SizeKey& size : size_keys()) {
    const double value = shape.*size.wide;
    if (value < 1) {
      throw InputError("{}: {} is {}; it must be at least 1", names.where, names.of(size.key),
                       value);
    }
    if (value <= static_cast<double>(size.limit)) continue;
    const bool heads =
        size.member == &ModelConfig::encoder_heads || size.member == &ModelConfig::decoder_heads;
    const std::string memory =
        heads ? "" : fmt::format(": the model would take {} of weights", memory_text(shape));
    throw InputError("{}: {} {} is beyond the limit of {}{}", names.where, names.of(size.key),
                     value, size.limit, memory);
  }
}

void check_relations(const ModelConfig& config, const KeyNames& names) {
  check_heads(config, names, size_keys()[3]);
  check_heads(config, names, size_keys()[4]);
  const SizeKey& source = size_keys()[7];
  const SizeKey& target = size_keys()[8];
  check_id("pad_token_id", config.pad_token_id, source, names, config);
  check_id("pad_token_id", config.pad_token_id, target, names, config);
  check_id("eos_token_id", config.eos_token_id, source, names, config);
  check_id("eos_token_id", config.eos_token_id, target, names, config);
  check_id("decoder_start_token_id", config.decoder_start_token_id, target, names, config);
  if (family_of(config.model_type) != nullptr && config.static_positions &&
      (config.d_model % 2 != 0 || config.d_model < 4)) {
    throw InputError("{}: {} {} does not fit {}'s sinusoids; use an even number from 4 on",
                     names.where, names.of("d_model"), config.d_model, config.model_type);
  }
  check_dropout("dropout", config.dropout, names);
  check_dropout("attention_dropout", config.attention_dropout, names);
  check_dropout("activation_dropout", config.activation_dropout, names);
  const bool published = family_of(config.model_type) != nullptr;
  check_pattern(config.encoder_attention,
                {false, config.encoder_layers, config.max_positions, published}, names.where,
                names.of("encoder_attention"));
  check_pattern(config.decoder_attention, {true, config.decoder_layers, config.decoder_positions()},
                names.where, names.of("decoder_attention"));
}

}  // namespace attn
