#include "config/family.h"

#include <algorithm>
#include <stdexcept>

#include "base/error.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {

bool ModelFamily::fixes(bool ModelConfig::*flag) const {
  return std::ranges::find(fixed_flags, flag) != fixed_flags.end();
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
