#include "config/family.h"

#include <algorithm>

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

std::vector<Family> make_families() {
  Family bart;
  bart.model_type = "bart";
  bart.class_name = "BartForConditionalGeneration";
  bart.embedding_norm = true;
  bart.first_position = 2;
  bart.forces_end = bart.starts_with_eos = true;
  bart.bos = 0;

  Family led = bart;
  led.model_type = "led";
  led.class_name = "LEDForConditionalGeneration";
  led.base = "led.";
  led.encoder_attention = {"self_attn.longformer_self_attn.query",
                           "self_attn.longformer_self_attn.key",
                           "self_attn.longformer_self_attn.value", "self_attn.output"};
  led.first_position = 0;
  led.scales_embedding = false;
  led.global_projections = true;
  led.positions_key = "max_encoder_position_embeddings";
  led.decoder_positions_key = "max_decoder_position_embeddings";
  led.forces_end = false;
  led.positions = 16384;
  led.decoder_positions = 1024;

  Family bigbird;
  bigbird.model_type = "bigbird_pegasus";
  bigbird.class_name = "BigBirdPegasusForConditionalGeneration";
  bigbird.encoder_attention = {"self_attn.self.query", "self_attn.self.key", "self_attn.self.value",
                               "self_attn.output"};
  bigbird.final_norm = "layernorm_embedding";
  bigbird.pre_norm = true;
  bigbird.scale_embedding = true;
  bigbird.layers = 16;
  bigbird.vocab_size = 96103;
  bigbird.positions = 4096;
  bigbird.activation = Activation::gelu_new;
  bigbird.pad = 0;
  bigbird.eos = 1;
  bigbird.start = bigbird.bos = 2;

  Family pegasus_x;
  pegasus_x.model_type = "pegasus_x";
  pegasus_x.class_name = "PegasusXForConditionalGeneration";
  pegasus_x.pre_norm = true;
  pegasus_x.learned_positions = false;
  pegasus_x.scale_embedding = true;
  pegasus_x.own_global_tokens = true;
  pegasus_x.logits_bias = false;
  pegasus_x.forces_end = true;
  pegasus_x.layers = 16;
  pegasus_x.vocab_size = 96103;
  pegasus_x.positions = 16384;
  pegasus_x.pad = pegasus_x.start = 0;
  pegasus_x.eos = 1;
  return {bart, led, bigbird, pegasus_x};
}

void read_windows_of_led(KeyReader& reader, AttentionPattern& pattern) {
  const std::string key = "attention_window";
  pattern.type = PatternType::longformer;
  pattern.globals = {0};
  pattern.windows = {512};
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return;
  pattern.windows.clear();
  for (const Json& one : value->is_array() ? *value : Json::array({*value})) {
    const std::optional<int> window = as_int(one);
    if (!window) reader.fail_type(key, *value, "an integer or a list of them, one a layer");
    pattern.windows.push_back(*window);
  }
  if (pattern.windows.empty()) reader.fail_type(key, *value, "at least one integer");
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

}  // namespace

const std::vector<Family>& families() {
  static const std::vector<Family> all = make_families();
  return all;
}

const Family* family_of(std::string_view model_type) {
  const auto found = std::ranges::find(families(), model_type, &Family::model_type);
  return found == families().end() ? nullptr : &*found;
}

std::string known_model_types(const char* link) {
  std::string words = "marian, pegasus";
  for (const Family& family : families()) words += ", " + std::string(family.model_type);
  return words + fmt::format(" {} attn-demo", link);
}

void set_fixed(const Family& family, ModelConfig& config) {
  config.normalize_before = config.add_final_layer_norm = family.pre_norm;
  config.normalize_embedding = family.embedding_norm;
  config.static_positions = !family.learned_positions;
  config.scale_attention = true;
  config.share_embeddings = true;
  if (!family.scales_embedding) config.scale_embedding = false;
}

ModelConfig family_defaults(const Family& family) {
  ModelConfig config;
  config.model_type = family.model_type;
  config.d_model = 1024;
  config.encoder_layers = config.decoder_layers = family.layers;
  config.encoder_heads = config.decoder_heads = 16;
  config.encoder_ffn_dim = config.decoder_ffn_dim = 4096;
  config.activation = family.activation;
  config.vocab_size = config.decoder_vocab_size = family.vocab_size;
  config.max_positions = family.positions;
  config.max_decoder_positions = family.decoder_positions;
  config.scale_embedding = family.scale_embedding;
  config.pad_token_id = family.pad;
  config.eos_token_id = family.eos;
  config.decoder_start_token_id = family.start;
  set_fixed(family, config);
  return config;
}

void read_family_keys(KeyReader& reader, const Family& family, ModelConfig& config) {
  if (family.global_projections) read_windows_of_led(reader, config.encoder_attention);
  if (family.model_type == "bigbird_pegasus") read_blocks_of_bigbird(reader, config);
  if (family.own_global_tokens) read_chunks_of_pegasus_x(reader, config);
  if (!family.decoder_positions_key.empty()) {
    const std::string key(family.decoder_positions_key);
    if (const std::optional<int> positions = reader.integer(key)) {
      if (*positions < 1 || *positions > ModelLimits::positions) {
        reader.fail(key, fmt::format("is {}; use 1 to {}", *positions,
                                     std::int64_t{ModelLimits::positions}));
      }
      config.max_decoder_positions = *positions;
    }
  }
}

void write_family_keys(const Family& family, const ModelConfig& config, Json& json) {
  const AttentionPattern& pattern = config.encoder_attention;
  if (family.positions_key != "max_position_embeddings") {
    json.erase("max_position_embeddings");
    json[std::string(family.positions_key)] = config.max_positions;
    json[std::string(family.decoder_positions_key)] = config.decoder_positions();
  }
  if (family.global_projections) {
    json["attention_window"] =
        pattern.windows.size() == 1 ? Json(pattern.windows.front()) : Json(pattern.windows);
  }
  if (family.model_type == "bigbird_pegasus") {
    json["attention_type"] = pattern.full() ? "original_full" : "block_sparse";
    json["block_size"] = pattern.block_size;
    json["num_random_blocks"] = pattern.random_blocks;
    json["use_bias"] = config.attention_biases;
  }
  if (family.own_global_tokens) {
    json["block_size"] = pattern.block_size;
    json["stagger_local_blocks"] = pattern.shift;
    json["num_global_tokens"] = config.global_tokens;
  }
  for (const char* key :
       {"decoder_vocab_size", "static_position_embeddings", "share_encoder_decoder_embeddings",
        "normalize_before", "add_final_layer_norm", "normalize_embedding"}) {
    json.erase(key);
  }
  if (!family.scales_embedding) json.erase("scale_embedding");
}

}  // namespace attn
