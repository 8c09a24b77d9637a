#include "config/family.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {
namespace {

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
    if (!window) reader.fail_type(key, *value, "an integer or a list of them, one a layer");
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

// --- the rows
// -------------------------------------------------------------------------------------

using C = ModelConfig;

/// Norms and scale of the scores, which every class of transformers fixes.
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

/// BART with the norm before each block, and behind both stacks.
ModelFamily mbart() {
  ModelFamily row = bart();
  row.model_type = "mbart";
  row.class_name = "MBartForConditionalGeneration";
  row.pre_norm = true;
  row.start = 0;  // <s>, as `generate` takes where no config says another
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

/// M2M100 and NLLB, which differ in their tokenizers alone.
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

/// What no class of transformers computes, in Marian's layers.
ModelFamily attn_demo() {
  ModelFamily row = marian();
  row.model_type = "attn-demo";
  row.class_name = "AttnDemoModel";
  row.relative_bias = "self_attn.relative_attention_bias";
  row.fixed_flags = {};
  return row;
}

}  // namespace

bool ModelFamily::fixes(bool ModelConfig::*flag) const {
  return std::ranges::find(fixed_flags, flag) != fixed_flags.end();
}

const std::vector<ModelFamily>& families() {
  static const std::vector<ModelFamily> all = {
      marian(),          pegasus(),   bart(),      mbart(),      m2m_100(),     led(),
      bigbird_pegasus(), pegasus_x(), t5_family(), mt5_family(), umt5_family(), attn_demo()};
  return all;
}

const ModelFamily* find_family(std::string_view model_type) {
  const auto found = std::ranges::find(families(), model_type, &ModelFamily::model_type);
  return found == families().end() ? nullptr : &*found;
}

const ModelFamily& family_of(std::string_view model_type) {
  const ModelFamily* found = find_family(model_type);
  if (found == nullptr) throw std::logic_error("no family has this model_type");
  return *found;
}

const ModelFamily& family_of(const ModelConfig& config) {
  return family_of(config.model_type);
}

std::string known_model_types(const char* link) {
  std::string words;
  for (const ModelFamily& family : families()) {
    const bool last = &family == &families().back();
    words += words.empty() ? "" : last ? fmt::format(" {} ", link) : ", ";
    words += family.model_type;
  }
  return words;
}

void apply_fixed_settings(const ModelFamily& family, ModelConfig& config) {
  config.normalize_before = config.add_final_layer_norm = family.pre_norm;
  config.normalize_embedding = family.embedding_norm;
  config.static_positions = !family.learned_positions;
  config.absolute_positions = family.absolute_positions;
  config.norm = family.norm;
  config.gated = family.gated;
  config.attention_biases = config.feed_forward_biases = family.biases;
  config.scale_attention = family.scale_attention;
  config.share_embeddings = true;
  if (family.fixes(&ModelConfig::scale_embedding)) config.scale_embedding = family.scale_embedding;
}

ModelConfig family_defaults(const ModelFamily& family) {
  ModelConfig config;
  config.model_type = family.model_type;
  config.d_model = family.d_model;
  config.encoder_layers = config.decoder_layers = family.layers;
  config.encoder_heads = config.decoder_heads = family.heads;
  config.encoder_ffn_dim = config.decoder_ffn_dim = family.ffn_dim;
  config.activation = family.activation;
  config.vocab_size = config.decoder_vocab_size = family.vocab_size;
  config.max_positions = family.positions;
  config.max_decoder_positions = family.decoder_positions;
  config.scale_embedding = family.scale_embedding;
  config.pad_token_id = family.pad;
  config.eos_token_id = family.eos;
  config.decoder_start_token_id = family.start;
  apply_fixed_settings(family, config);
  return config;
}

void read_family_keys(KeyReader& reader, const ModelFamily& family, ModelConfig& config) {
  if (family.read_class_keys != nullptr) family.read_class_keys(reader, config);
  if (family.decoder_positions_key.empty()) return;
  const std::string key(family.decoder_positions_key);
  const std::optional<int> positions = reader.integer(key);
  if (!positions) return;
  if (*positions < 1 || *positions > ModelLimits::positions) {
    reader.fail(
        key, fmt::format("is {}; use 1 to {}", *positions, std::int64_t{ModelLimits::positions}));
  }
  config.max_decoder_positions = *positions;
}

void write_family_keys(const ModelFamily& family, const ModelConfig& config, Json& json) {
  for (const FamilySizeKey& size : family.size_names) {
    json.erase(size_key_name(size.member));
    json[size.key] = config.*size.member;
  }
  if (!family.decoder_positions_key.empty()) {
    json.erase("max_position_embeddings");
    json[family.positions_key] = config.max_positions;
    json[std::string(family.decoder_positions_key)] = config.decoder_positions();
  }
  if (family.write_class_keys != nullptr) family.write_class_keys(config, json);
  if (family.uses_marian_keys) return;
  for (const FlagKey& flag : flag_keys) {
    if (family.fixes(flag.member)) json.erase(flag.key);
  }
  json.erase("decoder_vocab_size");
}

}  // namespace attn
