#include "config/family.h"

#include "base/error.h"
#include "config/custom_architecture.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {
namespace {

/// "relu", "gated-silu" …; "gated-gelu" is gelu_new, as the class reads it.
void read_feed_forward_of_t5(KeyReader& reader, ModelConfig& config) {
  const char* key = "feed_forward_proj";
  const std::optional<std::string> text = reader.text(key);
  if (!text) return;
  config.gated = text->starts_with("gated-");
  const std::string name = config.gated ? text->substr(6) : *text;
  const std::optional<Activation> activation = parse_activation(name);
  if (!activation) {
    reader.fail(key, fmt::format("{} is not supported; use relu, gelu, gelu_new or silu, or "
                                 "gated- before one of them",
                                 in_quotes(*text)));
  }
  config.activation = *text == "gated-gelu" ? Activation::gelu_new : *activation;
}

float read_float_of_t5(KeyReader& reader, const char* key, float otherwise) {
  const std::optional<double> value = reader.number(key);
  if (!value) return otherwise;
  const std::string expected = "a number from 0 to below 1";
  if (!(*value >= 0 && *value < 1)) {
    reader.fail(key, fmt::format("{} is out of range; use {}", *value, expected));
  }
  return reader.as_float(key, *value, 1, expected);
}

void read_keys_of_t5(KeyReader& reader, ModelConfig& config) {
  config.head_dim = 64;
  for (const char* key : {"head_dim", "d_kv"}) {
    const std::optional<int> columns = reader.integer(key);
    if (!columns) continue;
    if (*columns < 1 || *columns > ModelLimits::d_model) {
      reader.fail(key,
                  fmt::format("is {}; use 1 to {}", *columns, std::int64_t{ModelLimits::d_model}));
    }
    config.head_dim = *columns;
  }
  config.relative =
      read_relative_position_bias_config(reader, {32, 128, config.model_type == "umt5"});
  config.norm_epsilon = read_float_of_t5(reader, "layer_norm_epsilon", 1e-6F);
  config.dropout = config.attention_dropout = config.activation_dropout =
      read_float_of_t5(reader, "dropout_rate", 0.1F);
  read_feed_forward_of_t5(reader, config);
  const std::optional<bool> scaled = reader.boolean("scale_decoder_outputs");
  config.scale_output = config.model_type != "mt5" && scaled.value_or(config.tie_word_embeddings);
}

void write_keys_of_t5(const ModelConfig& config, Json& json) {
  for (const char* key : {"activation_function", "dropout", "attention_dropout",
                          "activation_dropout", "max_position_embeddings", "forced_eos_token_id"}) {
    json.erase(key);
  }
  std::string name = to_string(config.activation);
  if (config.activation == Activation::swish) name = "silu";
  if (config.activation == Activation::gelu_new && config.gated) name = "gelu";
  json["d_kv"] = config.head_dim;
  json["feed_forward_proj"] = (config.gated ? "gated-" : "") + name;
  write_relative_position_config(config.relative, json);
  json["layer_norm_epsilon"] = shortest_double(config.norm_epsilon);
  json["dropout_rate"] = shortest_double(config.dropout);
  json["scale_decoder_outputs"] = config.scale_output;
}

LayerNames names_of_t5(bool encoder) {
  LayerNames names;
  names.self = {"layer.0.SelfAttention.q", "layer.0.SelfAttention.k", "layer.0.SelfAttention.v",
                "layer.0.SelfAttention.o"};
  names.self_norm = "layer.0.layer_norm";
  names.cross = {"layer.1.EncDecAttention.q", "layer.1.EncDecAttention.k",
                 "layer.1.EncDecAttention.v", "layer.1.EncDecAttention.o"};
  names.cross_norm = "layer.1.layer_norm";
  names.first = encoder ? "layer.1.DenseReluDense.wi" : "layer.2.DenseReluDense.wi";
  names.second = encoder ? "layer.1.DenseReluDense.wo" : "layer.2.DenseReluDense.wo";
  names.feed_forward_norm = encoder ? "layer.1.layer_norm" : "layer.2.layer_norm";
  return names;
}

}  // namespace

ModelFamily t5_family() {
  using C = ModelConfig;
  ModelFamily row;
  row.model_type = "t5";
  row.class_name = "T5ForConditionalGeneration";
  row.fixed_flags = {&C::normalize_before, &C::add_final_layer_norm, &C::normalize_embedding,
                     &C::scale_attention,  &C::share_embeddings,     &C::static_positions,
                     &C::scale_embedding};
  row.tensor_prefix = "";
  row.layers_name = "block";
  row.encoder = names_of_t5(true);
  row.decoder = names_of_t5(false);
  row.relative_bias = "layer.0.SelfAttention.relative_attention_bias";
  row.final_norm = "final_layer_norm";
  row.pre_norm = true;
  row.norm = NormType::rms;
  row.biases = false;
  row.absolute_positions = false;
  row.scale_attention = false;
  row.ties_if_tensors_match = true;
  row.logits_bias = false;
  row.size_names = {{&C::encoder_layers, "num_layers", "num_hidden_layers"},
                    {&C::decoder_layers, "num_decoder_layers"},
                    {&C::encoder_heads, "num_heads", "num_attention_heads"},
                    {&C::decoder_heads, "num_heads", "num_attention_heads"},
                    {&C::encoder_ffn_dim, "d_ff"},
                    {&C::decoder_ffn_dim, "d_ff"}};
  row.positions_key = nullptr;
  row.read_class_keys = read_keys_of_t5;
  row.write_class_keys = write_keys_of_t5;
  row.layers = 6;
  row.d_model = 512;
  row.heads = 8;
  row.ffn_dim = 2048;
  row.vocab_size = 32128;
  row.positions = 16384;
  row.activation = Activation::relu;
  row.pad = row.start = 0;
  row.eos = 1;
  return row;
}

ModelFamily mt5_family() {
  ModelFamily row = t5_family();
  row.model_type = "mt5";
  row.class_name = "MT5ForConditionalGeneration";
  row.layers = 8;
  row.heads = 6;
  row.ffn_dim = 1024;
  row.vocab_size = 250112;
  row.activation = Activation::gelu_new;
  row.gated = true;
  return row;
}

ModelFamily umt5_family() {
  ModelFamily row = mt5_family();
  row.model_type = "umt5";
  row.class_name = "UMT5ForConditionalGeneration";
  return row;
}

}  // namespace attn
