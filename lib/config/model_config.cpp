#include "config/model_config.h"

#include "base/error.h"
#include "config/custom_architecture.h"
#include "config/family.h"
#include "config/model_sizes.h"
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

}  // namespace attn
