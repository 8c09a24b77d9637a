// Reads a ModelConfig from a model directory's config.json (as lenient as transformers) or from an
// experiment file (strict), and writes it as config.json.
#include <algorithm>
#include <array>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/utf8.h"
#include "config/custom_architecture.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "config/model_config.h"

namespace attn {
namespace {

struct FloatKey {
  const char* key;
  float ModelConfig::*member;
};

constexpr std::array<FloatKey, 3> kDropouts = {{
    {"dropout", &ModelConfig::dropout},
    {"attention_dropout", &ModelConfig::attention_dropout},
    {"activation_dropout", &ModelConfig::activation_dropout},
}};

/// Reads one size under its key or its alias; both at once must agree.
std::optional<double> read_size(KeyReader& reader, const SizeKey& size, KeyNames& names) {
  std::optional<double> value;
  const bool may_be_null = size.member == &ModelConfig::decoder_vocab_size ||
                           size.key == std::string_view("num_decoder_layers");
  if (!may_be_null || reader.find_not_null(size.key) != nullptr) value = reader.size(size.key);
  const std::string alias = size.alias;
  if (alias.empty()) return value;
  const std::optional<double> other = reader.size(alias);
  if (value && other && *value != *other) {
    reader.fail(size.key, fmt::format("{} and its alias {} {} differ; keep one of them", *value,
                                      alias, *other));
  }
  if (!value && other) names.aliases[size.key] = alias;
  return value ? value : other;
}

/// The rules of a class for the names of its sizes and for the vocabulary sizes.
struct SizeRules {
  const ModelFamily& family;
  bool may_be_absent = false;  ///< vocab_size is then 0 and the tokenizer decides
  bool one_for_both = false;   ///< the class has no decoder_vocab_size
};

/// Returns a size's key under the class's name for it; its name is null if the class has none.
SizeKey size_key_of_class(const ModelFamily& family, SizeKey size) {
  if (size.member == &ModelConfig::max_positions) size.key = family.positions_key;
  for (const FamilySizeKey& name : family.size_names) {
    if (name.member != size.member) continue;
    size.key = name.key;
    size.alias = name.alias;
  }
  return size;
}

void read_sizes(KeyReader& reader, ModelConfig& config, KeyNames& names, SizeRules rules) {
  RawSizes sizes = raw_sizes(config);
  const auto vocabulary = [&](int ModelConfig::*member) -> double& {
    const auto key = std::ranges::find(size_keys(), member, &SizeKey::member);
    return at(sizes, key - size_keys().begin());
  };
  bool source = !rules.may_be_absent;
  bool target = false;
  for (std::size_t i = 0; i < size_key_count; ++i) {
    const SizeKey& size = size_keys()[i];
    const bool is_target = size.member == &ModelConfig::decoder_vocab_size;
    if (is_target && rules.one_for_both) {
      reader.find(size.key);
      continue;
    }
    const SizeKey named = size_key_of_class(rules.family, size);
    if (named.key == nullptr) continue;
    if (named.key != size.key) names.aliases[size.key] = named.key;
    std::optional<double> value = read_size(reader, named, names);
    if (size.member == &ModelConfig::decoder_layers && !value && named.key != size.key) {
      value = sizes[i - 1];  // T5: the same as in the encoder
    }
    if (!value) continue;
    sizes[i] = *value;
    if (size.member == &ModelConfig::vocab_size) source = true;
    if (is_target) target = true;
  }
  if (!source) vocabulary(&ModelConfig::vocab_size) = 1;  // a placeholder for the checks
  if (!target) {
    vocabulary(&ModelConfig::decoder_vocab_size) = vocabulary(&ModelConfig::vocab_size);
  }
  check_sizes(sizes, config, names);
  set_sizes(sizes, config);
  if (!source) config.vocab_size = 0;
  if (!target) config.decoder_vocab_size = config.vocab_size;
}

void read_activation(KeyReader& reader, ModelConfig& config) {
  const std::optional<std::string> name = reader.text("activation_function");
  if (!name) return;
  const std::optional<Activation> found = parse_activation(*name);
  if (!found) {
    reader.fail("activation_function",
                fmt::format("{} is not supported; use relu, gelu, gelu_new, swish or silu",
                            in_quotes(*name)));
  }
  config.activation = *found;
}

/// Reads an id, or a list with one id, which transformers allows for eos_token_id.
std::optional<int> read_id(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find(key);
  if (value == nullptr || !value->is_array()) return reader.integer(key);
  if (value->size() == 1) {
    if (const std::optional<int> id = as_int(value->front())) return id;
  }
  reader.fail_type(key, *value, "one integer");
}

/// Reads [[layer, head], ...].
void read_alignment_heads(KeyReader& reader, ModelConfig& config) {
  const char* const key = "alignment_heads";
  const Json* value = reader.find(key);
  if (value == nullptr || value->is_null()) return;
  const auto fail = [&] {
    reader.fail(key, fmt::format("is {}; expected [[layer, head], ...] of cross-attention heads",
                                 excerpt(value->dump())));
  };
  if (!value->is_array()) fail();
  for (const Json& pair : *value) {
    if (!pair.is_array() || pair.size() != 2) fail();
    const auto index = [&](const Json& number, int count) {
      if (!number.is_number_unsigned() || number.get<std::uint64_t>() >= to_size(count)) fail();
      return number.get<int>();
    };
    config.alignment_heads.push_back(
        {index(pair[0], config.decoder_layers), index(pair[1], config.decoder_heads)});
  }
}

/// Reads the special ids. Returns true if decoder_start_token_id was present.
bool read_ids(KeyReader& reader, ModelConfig& config) {
  if (const auto id = read_id(reader, "pad_token_id")) config.pad_token_id = *id;
  if (const auto id = read_id(reader, "eos_token_id")) config.eos_token_id = *id;
  const std::optional<int> start = read_id(reader, "decoder_start_token_id");
  if (start) config.decoder_start_token_id = *start;
  return start.has_value();
}

/// Reads flags and dropouts. Absent keys keep their values.
void read_rest(KeyReader& reader, const ModelFamily& family, ModelConfig& config) {
  for (const FlagKey& flag : flag_keys) {
    if (const std::optional<bool> value = reader.boolean(flag.key)) config.*flag.member = *value;
  }
  if (!family.size_names.empty()) return;  // the class has keys of its own for the rest
  for (const FloatKey& dropout : kDropouts) {
    if (const std::optional<double> value = reader.number(dropout.key)) {
      const std::string expected = "a number from 0 to below 1";
      if (!(*value >= 0 && *value < 1)) {
        reader.fail(dropout.key, fmt::format("{} is out of range; use {}", *value, expected));
      }
      config.*dropout.member = reader.as_float(dropout.key, *value, 1, expected);
    }
  }
  read_activation(reader, config);
}

void read_patterns(KeyReader& reader, ModelConfig& config) {
  const auto read = [&](const char* key, AttentionPattern& pattern, bool causal) {
    if (const Json* json = reader.find(key)) {
      pattern = read_pattern(*json, reader.where(), reader.prefix() + key, causal);
    }
  };
  read("encoder_attention", config.encoder_attention, /*causal=*/false);
  read("decoder_attention", config.decoder_attention, /*causal=*/true);
}

/// Refuses sparse patterns, which the classes of transformers do not have.
void refuse_patterns(KeyReader& reader, ModelConfig config) {
  read_patterns(reader, config);
  const bool encoder = !config.encoder_attention.full();
  if (!encoder && config.decoder_attention.full()) return;
  reader.fail(encoder ? "encoder_attention" : "decoder_attention",
              fmt::format("is for model_type \"attn-demo\", and this model's is {}; leave one of "
                          "them out",
                          in_quotes(config.model_type)));
}

/// Sets the embedding flags to what transformers computes: untying unties all three tables, and a
/// shared table has vocab_size rows.
void normalize_embedding_flags(KeyReader& reader, ModelConfig& config) {
  if (!config.share_embeddings || family_of(config).ties_if_tensors_match) return;
  if (config.vocab_size > 0 && config.decoder_vocab_size != config.vocab_size) {
    reader.fail("decoder_vocab_size",
                fmt::format("{} differs from vocab_size {}, but the embeddings are shared; set "
                            "share_encoder_decoder_embeddings to false or leave it out",
                            config.decoder_vocab_size, config.vocab_size));
  }
  config.decoder_vocab_size = config.vocab_size;
  if (!config.tie_word_embeddings) config.share_embeddings = false;
}

/// Sets the flags to the class's fixed behavior and notes keys that contradict it.
void apply_class_behaviour(const ModelFamily& family, const std::string& where, ModelConfig& config,
                           std::vector<std::string>& notes) {
  ModelConfig fixed;
  apply_fixed_settings(family, fixed);
  for (const FlagKey& flag : flag_keys) {
    if (!family.fixes(flag.member) || config.*flag.member == fixed.*flag.member) continue;
    notes.push_back(fmt::format("{}: {} {} is ignored, as transformers' {} class ignores it", where,
                                flag.key, config.*flag.member, family.model_type));
    config.*flag.member = fixed.*flag.member;
  }
}

const ModelFamily& read_type(KeyReader& reader) {
  const std::optional<std::string> type = reader.text("model_type");
  if (!type) {
    throw InputError("{}: {}model_type is missing; expected {}", reader.where(), reader.prefix(),
                     known_model_types("or"));
  }
  const ModelFamily* family = find_family(*type);
  if (family == nullptr) {
    reader.fail("model_type", fmt::format("{} is not supported; supported are {}", in_quotes(*type),
                                          known_model_types("and")));
  }
  return *family;
}

/// Throws InputError for a missing id if the class's default is outside this model's vocabulary. A
/// later message would name a number that is in no file.
void require_ids(const Json& json, const std::string& where, const ModelConfig& config) {
  struct Id {
    const char* key;
    int value;
    const char* purpose;
  };
  const Id ids[] = {
      {"pad_token_id", config.pad_token_id, "padding"},
      {"eos_token_id", config.eos_token_id, "the end of a text"},
      {"decoder_start_token_id", config.decoder_start_token_id, "the start of each translation"}};
  for (const Id& id : ids) {
    if (json.contains(id.key) || id.value < config.decoder_vocab_size) continue;
    throw InputError("{}: {} is missing; expected the id of the token for {}, from 0 to {}", where,
                     id.key, id.purpose, config.decoder_vocab_size - 1);
  }
}

}  // namespace

ModelConfig model_config_from_directory(const Json& json, const std::string& where,
                                        std::vector<std::string>& unknown,
                                        std::vector<std::string>& notes) {
  KeyReader reader(json, where);
  const ModelFamily& family = read_type(reader);
  ModelConfig config = family_defaults(family);
  KeyNames names{where, "", {}};
  read_rest(reader, family, config);
  read_ids(reader, config);
  if (family.fixed_flags.empty()) {
    read_patterns(reader, config);
    read_custom_architecture(reader, config);
  } else {
    refuse_patterns(reader, config);
    apply_class_behaviour(family, where, config, notes);
  }
  read_family_keys(reader, family, config);
  read_sizes(reader, config, names, {family, false, family.fixes(&ModelConfig::share_embeddings)});
  if (family.uses_marian_keys) normalize_custom_architecture(config);
  if (config.share_embeddings && config.tie_word_embeddings &&
      config.decoder_vocab_size != config.vocab_size) {
    notes.push_back(
        fmt::format("{}: decoder_vocab_size {} is ignored, as the shared embeddings "
                    "have vocab_size {} rows",
                    where, config.decoder_vocab_size, config.vocab_size));
    config.decoder_vocab_size = config.vocab_size;
  }
  normalize_embedding_flags(reader, config);
  require_ids(json, where, config);
  check_consistency(config, names);
  read_alignment_heads(reader, config);
  unknown = reader.unused();
  return config;
}

namespace {

/// Reads an experiment's keys of a family. Throws InputError for a value that the class excludes.
void read_family(KeyReader& reader, const ModelFamily& family, ModelConfig& config) {
  config.model_type = family.model_type;
  config.scale_embedding = family.scale_embedding;
  if (family.positions_key == nullptr) config.max_positions = family.positions;
  apply_fixed_settings(family, config);
  const ModelConfig fixed = config;
  read_rest(reader, family, config);
  for (const FlagKey& flag : flag_keys) {
    if (!family.fixes(flag.member) || config.*flag.member == fixed.*flag.member) continue;
    reader.fail(flag.key, fmt::format("{} is not what {} computes; leave it out",
                                      config.*flag.member, family.class_name));
  }
  read_family_keys(reader, family, config);
}

}  // namespace

ModelConfig model_config_from_experiment(const Json& json, const std::string& where) {
  KeyReader reader(json, where, "model.");
  ModelConfig config;
  KeyNames names{where, "model.", {}};
  const bool chosen = reader.find("model_type") != nullptr;
  const ModelFamily& family = chosen ? read_type(reader) : family_of("attn-demo");
  if (family.uses_marian_keys) {
    config.normalize_before = config.add_final_layer_norm = family.pre_norm;
    read_rest(reader, family, config);
    read_patterns(reader, config);
    read_custom_architecture(reader, config);
  } else {
    read_family(reader, family, config);
  }
  read_sizes(reader, config, names, {family, true, !family.uses_marian_keys});
  if (family.uses_marian_keys) normalize_custom_architecture(config);
  // In models that this program makes, pad is the last token, and the decoder starts with it.
  config.pad_token_id = std::max(config.decoder_vocab_size - 1, 0);
  const bool own_start = read_ids(reader, config);
  if (!own_start) config.decoder_start_token_id = config.pad_token_id;
  reader.refuse_unused();
  normalize_embedding_flags(reader, config);
  config.model_type = model_type_for(config);
  if (!family.fixed_flags.empty() && family.model_type != config.model_type) {
    reader.fail("model_type",
                fmt::format("is {}, but that class does not compute these norms, embeddings, "
                            "positions or attention; leave model_type out or use {}",
                            in_quotes(family.model_type), in_quotes(config.model_type)));
  }
  return config;
}

// --- writing -------------------------------------------------------------------------------------

std::string model_type_for(const ModelConfig& config) {
  if (!family_of(config).uses_marian_keys) return config.model_type;
  if (config.normalize_embedding || !config.scale_attention) return "attn-demo";
  if (!config.encoder_attention.full() || !config.decoder_attention.full()) return "attn-demo";
  if (has_custom_architecture(config)) return "attn-demo";
  if (!config.normalize_before && !config.add_final_layer_norm) return "marian";
  if (!config.normalize_before || !config.add_final_layer_norm) return "attn-demo";
  // PegasusForConditionalGeneration has one vocabulary, with one shared table or three tables.
  const bool one_table = config.share_embeddings && config.tie_word_embeddings;
  const bool three_tables = !config.share_embeddings && !config.tie_word_embeddings &&
                            config.vocab_size == config.decoder_vocab_size;
  return one_table || three_tables ? "pegasus" : "attn-demo";
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
  for (const HeadIndex head : config.alignment_heads) {
    json["alignment_heads"].push_back({head.layer, head.head});
  }
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
