// The table of families: one function per row, after the readers of keys that only that class has.
#include "base/error.h"
#include "config/custom_architecture.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {
namespace {

// --- keys that one class has ---------------------------------------------------------------------

void read_windows_of_led(KeyReader& reader, ModelConfig& config) {
  const std::string key = "attention_window";
  AttentionPattern& pattern = config.encoder_attention;
  pattern.type = PatternType::longformer;
  pattern.globals = {0};
  pattern.windows = {512};
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return;
  pattern.windows.clear();
  for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
    const std::optional<int> window = as_int(one);
    if (!window) reader.fail_type(key, *value, "an integer or a list of them, one per layer");
    pattern.windows.push_back(*window);
  }
  if (pattern.windows.empty()) reader.fail_type(key, *value, "at least one integer");
}

void write_windows_of_led(const ModelConfig& config, Json& json) {
  const std::vector<int>& windows = config.encoder_attention.windows;
  json["attention_window"] = windows.size() == 1 ? Json(windows.front()) : Json(windows);
}

void read_blocks_of_bigbird(KeyReader& reader, ModelConfig& config) {
  const std::string type = reader.text("attention_type").value_or("block_sparse");
  if (type != "block_sparse" && type != "original_full") {
    reader.fail("attention_type", fmt::format("{} is not supported; use block_sparse or "
                                              "original_full",
                                              in_quotes(type)));
  }
  AttentionPattern pattern;
  pattern.type = type == "block_sparse" ? PatternType::bigbird : PatternType::full;
  pattern.block_size = reader.integer("block_size").value_or(64);
  pattern.random_blocks = reader.integer("num_random_blocks").value_or(3);
  pattern.random_is_seeded = false;
  config.encoder_attention = pattern;
  config.attention_biases = reader.boolean("use_bias").value_or(false);
}

void write_blocks_of_bigbird(const ModelConfig& config, Json& json) {
  const AttentionPattern& pattern = config.encoder_attention;
  json["attention_type"] = pattern.full() ? "original_full" : "block_sparse";
  json["block_size"] = pattern.block_size;
  json["num_random_blocks"] = pattern.random_blocks;
  json["use_bias"] = config.attention_biases;
}

void read_chunks_of_pegasus_x(KeyReader& reader, ModelConfig& config) {
  constexpr int kMostGlobals = 65'536;
  AttentionPattern pattern;
  pattern.type = PatternType::chunks;
  pattern.block_size = reader.integer("block_size").value_or(512);
  pattern.shift = reader.boolean("stagger_local_blocks").value_or(true);
  config.encoder_attention = pattern;
  config.attention_biases = false;
  config.global_tokens = reader.integer("num_global_tokens").value_or(32);
  if (config.global_tokens < 0 || config.global_tokens > kMostGlobals) {
    reader.fail("num_global_tokens",
                fmt::format("is {}; use 0 to {}", config.global_tokens, kMostGlobals));
  }
}

void write_chunks_of_pegasus_x(const ModelConfig& config, Json& json) {
  json["block_size"] = config.encoder_attention.block_size;
  json["stagger_local_blocks"] = config.encoder_attention.shift;
  json["num_global_tokens"] = config.global_tokens;
}

/// Reads "relu", "gated-silu" and so on. "gated-gelu" means gelu_new, as in the class.
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

// --- the rows ------------------------------------------------------------------------------------

using C = ModelConfig;

/// The norms and the score scale, which are fixed in every class of transformers.
const std::vector<bool C::*> kNorms = {&C::normalize_before, &C::add_final_layer_norm,
                                       &C::normalize_embedding, &C::scale_attention};

std::vector<bool C::*> norms_and(std::initializer_list<bool C::*> more) {
  std::vector<bool C::*> flags = kNorms;
  flags.insert(flags.end(), more);
  return flags;
}

ModelFamily marian() {
  ModelFamily row;
  row.model_type = "marian";
  row.class_name = "MarianMTModel";
  row.uses_marian_keys = true;
  row.fixed_flags = kNorms;
  row.learned_positions = false;
  row.vocab_size = 58101;
  row.pad = row.start = 58100;
  row.eos = 0;
  return row;
}

ModelFamily pegasus() {
  ModelFamily row;
  row.model_type = "pegasus";
  row.class_name = "PegasusForConditionalGeneration";
  row.uses_marian_keys = true;
  row.fixed_flags = norms_and({&C::share_embeddings});
  row.pre_norm = true;
  row.learned_positions = false;
  row.pad = row.start = 0;
  row.eos = 1;
  return row;
}

ModelFamily bart() {
  ModelFamily row;
  row.model_type = "bart";
  row.class_name = "BartForConditionalGeneration";
  row.fixed_flags = norms_and({&C::share_embeddings, &C::static_positions});
  row.embedding_norm = true;
  row.position_offset = 2;
  row.decoder_starts_with_eos = true;
  return row;
}

/// BART with pre-norm and a final norm after both stacks.
ModelFamily mbart() {
  ModelFamily row = bart();
  row.model_type = "mbart";
  row.class_name = "MBartForConditionalGeneration";
  row.pre_norm = true;
  row.start = 0;  // <s>, which `generate` uses if no config names another token
  return row;
}

ModelFamily led() {
  ModelFamily row = bart();
  row.model_type = "led";
  row.class_name = "LEDForConditionalGeneration";
  row.fixed_flags = norms_and({&C::share_embeddings, &C::static_positions, &C::scale_embedding});
  row.tensor_prefix = "led.";
  row.encoder.self = {"self_attn.longformer_self_attn.query", "self_attn.longformer_self_attn.key",
                      "self_attn.longformer_self_attn.value", "self_attn.output"};
  row.position_offset = 0;
  row.globals = GlobalTokenType::projected;
  row.positions_key = "max_encoder_position_embeddings";
  row.decoder_positions_key = "max_decoder_position_embeddings";
  row.read_class_keys = read_windows_of_led;
  row.write_class_keys = write_windows_of_led;
  row.positions = 16384;
  row.decoder_positions = 1024;
  return row;
}

ModelFamily bigbird_pegasus() {
  ModelFamily row;
  row.model_type = "bigbird_pegasus";
  row.class_name = "BigBirdPegasusForConditionalGeneration";
  row.fixed_flags = norms_and({&C::share_embeddings, &C::static_positions});
  row.encoder.self = {"self_attn.self.query", "self_attn.self.key", "self_attn.self.value",
                      "self_attn.output"};
  row.final_norm = "layernorm_embedding";
  row.pre_norm = true;
  row.scale_embedding = true;
  row.read_class_keys = read_blocks_of_bigbird;
  row.write_class_keys = write_blocks_of_bigbird;
  row.layers = 16;
  row.vocab_size = 96103;
  row.positions = 4096;
  row.activation = Activation::gelu_new;
  row.pad = 0;
  row.eos = 1;
  return row;
}

ModelFamily pegasus_x() {
  ModelFamily row;
  row.model_type = "pegasus_x";
  row.class_name = "PegasusXForConditionalGeneration";
  row.fixed_flags = norms_and({&C::share_embeddings, &C::static_positions});
  row.pre_norm = true;
  row.learned_positions = false;
  row.sinusoids = SinusoidVariant::pegasus_x;
  row.scale_embedding = true;
  row.globals = GlobalTokenType::learned;
  row.logits_bias = false;
  row.read_class_keys = read_chunks_of_pegasus_x;
  row.write_class_keys = write_chunks_of_pegasus_x;
  row.layers = 16;
  row.vocab_size = 96103;
  row.positions = 16384;
  row.pad = row.start = 0;
  row.eos = 1;
  return row;
}

/// M2M100 and NLLB, which differ only in their tokenizers.
ModelFamily m2m_100() {
  ModelFamily row;
  row.model_type = "m2m_100";
  row.class_name = "M2M100ForConditionalGeneration";
  row.fixed_flags = norms_and({&C::share_embeddings, &C::static_positions});
  row.pre_norm = true;
  row.learned_positions = false;
  row.sinusoids = SinusoidVariant::m2m100;
  row.positions_start_after_pad = true;
  row.position_offset = 2;
  row.scale_embedding = true;
  row.logits_bias = false;
  row.decoder_starts_with_eos = true;
  row.vocab_size = 128112;
  row.activation = Activation::relu;
  return row;
}

/// Raffel et al. 2020. Gated variants: v1.1, FLAN-T5 and MADLAD-400.
ModelFamily t5() {
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

/// T5, gated, whose output is never scaled.
ModelFamily mt5() {
  ModelFamily row = t5();
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

/// mT5 with a relative position bias in every layer, and T5's output scale.
ModelFamily umt5() {
  ModelFamily row = mt5();
  row.model_type = "umt5";
  row.class_name = "UMT5ForConditionalGeneration";
  return row;
}

/// Combinations of settings that no class of transformers computes, in Marian's layers.
ModelFamily attn_demo() {
  ModelFamily row = marian();
  row.model_type = "attn-demo";
  row.class_name = "AttnDemoModel";
  row.relative_bias = "self_attn.relative_attention_bias";
  row.fixed_flags = {};
  return row;
}

}  // namespace

const std::vector<ModelFamily>& families() {
  static const std::vector<ModelFamily> all = {
      marian(),          pegasus(),   bart(), mbart(), m2m_100(), led(),
      bigbird_pegasus(), pegasus_x(), t5(),   mt5(),   umt5(),    attn_demo()};
  return all;
}

}  // namespace attn
