#include "config/model_config.h"

#include <algorithm>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "config/custom_architecture.h"
#include "config/family.h"
#include "config/parameter_table.h"

namespace attn {

void validate(const ModelConfig& config, const std::string& where) {
  const KeyNames names{where, "", {}};
  check_sizes(raw_sizes(config), config, names);
  check_consistency(config, names);
}

std::optional<std::uint64_t> count_parameters(const ModelConfig& config) {
  return count_parameters(model_sizes(config));
}

std::string list_divisors(int d_model) {
  std::string list;
  int last = 0;
  for (int n = 1; n <= d_model; ++n) {
    if (d_model % n != 0) continue;
    if (last != 0) list += (list.empty() ? "" : ", ") + std::to_string(last);
    last = n;
  }
  return (list.empty() ? "" : list + " or ") + std::to_string(last);
}

std::string model_type_for(const ModelConfig& config) {
  if (!family_of(config).uses_marian_keys) return config.model_type;
  if (config.normalize_embedding || !config.scale_attention) return "attn-demo";
  if (!config.encoder_attention.full() || !config.decoder_attention.full()) return "attn-demo";
  if (has_custom_architecture(config)) return "attn-demo";
  if (!config.normalize_before && !config.add_final_layer_norm) return "marian";
  if (!config.normalize_before || !config.add_final_layer_norm) return "attn-demo";
  // PegasusForConditionalGeneration has one vocabulary: its tables are one, or three when untied.
  const bool one_table = config.share_embeddings && config.tie_word_embeddings;
  const bool three_tables = !config.share_embeddings && !config.tie_word_embeddings &&
                            config.vocab_size == config.decoder_vocab_size;
  return one_table || three_tables ? "pegasus" : "attn-demo";
}

std::string to_string(Activation activation) {
  switch (activation) {
    case Activation::relu:
      return "relu";
    case Activation::gelu:
      return "gelu";
    case Activation::swish:
      return "swish";
    case Activation::gelu_new:
      return "gelu_new";
  }
  return "relu";
}

std::optional<Activation> parse_activation(std::string_view name) {
  if (name == "silu") return Activation::swish;
  for (const Activation each :
       {Activation::relu, Activation::gelu, Activation::swish, Activation::gelu_new}) {
    if (name == to_string(each)) return each;
  }
  return std::nullopt;
}

double shortest_double(float value) {
  return std::stod(fmt::format("{}", value));
}

Json to_config_json(const ModelConfig& config) {
  const ModelFamily& family = family_of(model_type_for(config));
  Json json = Json::object();
  json["model_type"] = std::string(family.model_type);
  json["architectures"] = Json::array({std::string(family.class_name)});
  json["d_model"] = config.d_model;
  json["encoder_layers"] = config.encoder_layers;
  json["decoder_layers"] = config.decoder_layers;
  json["encoder_attention_heads"] = config.encoder_heads;
  json["decoder_attention_heads"] = config.decoder_heads;
  json["encoder_ffn_dim"] = config.encoder_ffn_dim;
  json["decoder_ffn_dim"] = config.decoder_ffn_dim;
  json["activation_function"] = to_string(config.activation);
  json["vocab_size"] = config.vocab_size;
  json["decoder_vocab_size"] =
      config.share_embeddings ? config.vocab_size : config.decoder_vocab_size;
  json["max_position_embeddings"] = config.max_positions;
  json["scale_embedding"] = config.scale_embedding;
  json["static_position_embeddings"] = config.static_positions;
  json["share_encoder_decoder_embeddings"] = config.share_embeddings;
  json["tie_word_embeddings"] = config.tie_word_embeddings;
  json["normalize_before"] = config.normalize_before;
  json["add_final_layer_norm"] = config.add_final_layer_norm;
  json["normalize_embedding"] = config.normalize_embedding;
  if (!config.scale_attention) json["scale_attention"] = false;
  if (!config.encoder_attention.full() && family.uses_marian_keys) {
    json["encoder_attention"] = to_json(config.encoder_attention);
  }
  if (!config.decoder_attention.full()) {
    json["decoder_attention"] = to_json(config.decoder_attention);
  }
  if (family.uses_marian_keys) write_custom_architecture(config, json);
  json["dropout"] = shortest_double(config.dropout);
  json["attention_dropout"] = shortest_double(config.attention_dropout);
  json["activation_dropout"] = shortest_double(config.activation_dropout);
  json["pad_token_id"] = config.pad_token_id;
  json["eos_token_id"] = config.eos_token_id;
  json["decoder_start_token_id"] = config.decoder_start_token_id;
  json["forced_eos_token_id"] = config.eos_token_id;
  json["bos_token_id"] = nullptr;
  json["is_encoder_decoder"] = true;
  json["use_cache"] = true;
  json["dtype"] = "float32";
  write_family_keys(family, config, json);
  return json;
}

const std::array<SizeKey, size_key_count>& size_keys() {
  using C = ModelConfig;
  using L = ModelLimits;
  using S = ModelSizes;
  static const std::array<SizeKey, size_key_count> keys = {{
      {"d_model", "hidden_size", &S::d_model, &C::d_model, L::d_model},
      {"encoder_layers", "num_hidden_layers", &S::encoder_layers, &C::encoder_layers, L::layers},
      {"decoder_layers", "", &S::decoder_layers, &C::decoder_layers, L::layers},
      {"encoder_attention_heads", "num_attention_heads", &S::encoder_heads, &C::encoder_heads,
       L::d_model},
      {"decoder_attention_heads", "", &S::decoder_heads, &C::decoder_heads, L::d_model},
      {"encoder_ffn_dim", "", &S::encoder_ffn, &C::encoder_ffn_dim, L::ffn_dim},
      {"decoder_ffn_dim", "", &S::decoder_ffn, &C::decoder_ffn_dim, L::ffn_dim},
      {"vocab_size", "", &S::vocab, &C::vocab_size, L::vocab_size},
      {"decoder_vocab_size", "", &S::decoder_vocab, &C::decoder_vocab_size, L::vocab_size},
      {"max_position_embeddings", "", &S::positions, &C::max_positions, L::positions},
  }};
  return keys;
}

namespace {

std::uint64_t from_zero(int n) {
  return to_size(std::max(n, 0));
}

}  // namespace

const char* size_key_name(int ModelConfig::*member) {
  return std::ranges::find(size_keys(), member, &SizeKey::member)->key;
}

ModelSizes model_sizes(const ModelConfig& config) {
  ModelSizes sizes;
  for (const SizeKey& key : size_keys()) sizes.*key.size = from_zero(config.*key.member);
  sizes.decoder_positions = from_zero(config.decoder_positions());
  sizes.global_tokens = from_zero(config.global_tokens);
  sizes.share_embeddings = config.share_embeddings;
  sizes.tie_word_embeddings = config.tie_word_embeddings;
  sizes.static_positions = config.static_positions;
  sizes.final_norms = config.add_final_layer_norm;
  sizes.embedding_norms = config.normalize_embedding;
  sizes.attention_biases = config.attention_biases;
  sizes.feed_forward_biases = config.feed_forward_biases;
  sizes.absolute_positions = config.absolute_positions;
  sizes.norm_biases = config.norm == NormType::layer;
  sizes.gated = config.gated;
  sizes.head_dim = from_zero(config.head_dim);
  sizes.key_value_heads = from_zero(config.key_value_heads);
  sizes.relative = config.relative;
  sizes.encoder_attention = config.encoder_attention;
  sizes.decoder_attention = config.decoder_attention;
  sizes.family = &family_of(config);
  return sizes;
}

RawSizes raw_sizes(const ModelConfig& config) {
  RawSizes sizes;
  for (std::size_t i = 0; i < size_key_count; ++i) sizes[i] = config.*size_keys()[i].member;
  return sizes;
}

void set_sizes(const RawSizes& sizes, ModelConfig& config) {
  for (std::size_t i = 0; i < size_key_count; ++i) {
    config.*size_keys()[i].member = static_cast<int>(sizes[i]);
  }
}

std::string KeyNames::of(const std::string& key) const {
  const auto alias = aliases.find(key);
  return prefix + (alias == aliases.end() ? key : alias->second);
}

namespace {

std::string memory_text(const RawSizes& raw, const ModelConfig& config) {
  constexpr double kMostBytes = 1.8e19;  // just below 2^64
  constexpr double kMostSize = 1e18;     // of one key: as good as any larger one
  ModelSizes sizes = model_sizes(config);
  for (std::size_t i = 0; i < size_key_count; ++i) {
    sizes.*size_keys()[i].size = static_cast<std::uint64_t>(std::clamp(raw[i], 0.0, kMostSize));
  }
  const std::optional<std::uint64_t> parameters = count_parameters(sizes);
  const double bytes = parameters ? 4.0 * static_cast<double>(*parameters) : kMostBytes;
  return bytes < kMostBytes ? "about " + human_bytes(bytes) : "more than 18 EB";
}

void check_heads(const ModelConfig& config, const KeyNames& names, const SizeKey& heads) {
  if (config.head_dim > 0 || config.d_model % (config.*heads.member) == 0) return;
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

void check_sizes(const RawSizes& sizes, const ModelConfig& config, const KeyNames& names) {
  for (std::size_t i = 0; i < size_key_count; ++i) {
    const SizeKey& size = size_keys()[i];
    const double value = sizes[i];
    if (value < 1) {
      throw InputError("{}: {} is {}; it must be at least 1", names.where, names.of(size.key),
                       value);
    }
    if (value <= static_cast<double>(size.limit)) continue;
    const bool heads =
        size.member == &ModelConfig::encoder_heads || size.member == &ModelConfig::decoder_heads;
    const std::string memory =
        heads ? ""
              : fmt::format(": the model would take {} of weights", memory_text(sizes, config));
    throw InputError("{}: {} {} is beyond the limit of {}{}", names.where, names.of(size.key),
                     value, size.limit, memory);
  }
}

void check_consistency(const ModelConfig& config, const KeyNames& names) {
  check_heads(config, names, size_keys()[3]);
  check_heads(config, names, size_keys()[4]);
  check_custom_architecture(config, names);
  const SizeKey& source = size_keys()[7];
  const SizeKey& target = size_keys()[8];
  check_id("pad_token_id", config.pad_token_id, source, names, config);
  check_id("pad_token_id", config.pad_token_id, target, names, config);
  check_id("eos_token_id", config.eos_token_id, source, names, config);
  check_id("eos_token_id", config.eos_token_id, target, names, config);
  check_id("decoder_start_token_id", config.decoder_start_token_id, target, names, config);
  const ModelFamily& family = family_of(config);
  if (config.absolute_positions && config.static_positions &&
      family.sinusoids != SinusoidVariant::marian &&
      (config.d_model % 2 != 0 || config.d_model < 4)) {
    throw InputError("{}: {} {} does not fit {}'s sinusoids; use an even number from 4 on",
                     names.where, names.of("d_model"), config.d_model, config.model_type);
  }
  check_dropout("dropout", config.dropout, names);
  check_dropout("attention_dropout", config.attention_dropout, names);
  check_dropout("activation_dropout", config.activation_dropout, names);
  check_pattern(config.encoder_attention,
                {false, config.encoder_layers, config.max_positions, !family.uses_marian_keys},
                names.where, names.of("encoder_attention"));
  check_pattern(config.decoder_attention, {true, config.decoder_layers, config.decoder_positions()},
                names.where, names.of("decoder_attention"));
}

}  // namespace attn
