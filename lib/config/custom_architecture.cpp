#include "config/custom_architecture.h"

#include <array>

#include "base/at.h"
#include "base/error.h"
#include "config/family.h"
#include "config/key_reader.h"
#include "config/model_config.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

constexpr const char* kBuckets = "relative_attention_num_buckets";
constexpr const char* kMaxDistance = "relative_attention_max_distance";
constexpr const char* kStatic = "static_position_embeddings";

/// The defaults of T5's classes.
constexpr RelativePositionBiasConfig kT5RelativePositions{32, 128, false};
constexpr float kRmsEpsilon = 1e-6F;

/// Reads an integer from `least` to `most`.
void read_within(KeyReader& reader, const char* key, int& value, int least, std::int64_t most) {
  const std::optional<int> found = reader.integer(key);
  if (!found) return;
  if (*found < least || *found > most) {
    reader.fail(key, fmt::format("is {}; use {} to {}", *found, least, most));
  }
  value = *found;
}

/// Reads one of `words` and returns its index; nothing if the key is absent.
template <std::size_t N>
std::optional<std::size_t> read_word(KeyReader& reader, const char* key,
                                     const std::array<const char*, N>& words) {
  const std::optional<std::string> text = reader.text(key);
  if (!text) return std::nullopt;
  for (std::size_t i = 0; i < N; ++i) {
    if (*text == words[i]) return i;
  }
  reader.fail(key, fmt::format("{} is not supported; use {}", in_quotes(*text),
                               list_words({words.begin(), words.end()})));
}

enum class Position { sinusoidal, learned, relative, rotary, none };
constexpr std::array<const char*, 5> kPositions = {"sinusoidal", "learned", "relative", "rotary",
                                                   "none"};

Position position_of(const ModelConfig& config) {
  if (config.relative.enabled()) return Position::relative;
  if (config.rotary) return Position::rotary;
  if (!config.absolute_positions) return Position::none;
  return config.static_positions ? Position::sinusoidal : Position::learned;
}

void read_position(KeyReader& reader, ModelConfig& config) {
  const std::optional<std::size_t> word = read_word(reader, "position", kPositions);
  if (word) {
    const auto position = static_cast<Position>(*word);
    const bool learned = position == Position::learned;
    config.absolute_positions = learned || position == Position::sinusoidal;
    if (reader.find(kStatic) != nullptr &&
        (!config.absolute_positions || config.static_positions == learned)) {
      reader.fail("position",
                  fmt::format("{} and {} {} contradict each other; keep one of them",
                              in_quotes(at(kPositions, *word)), kStatic, config.static_positions));
    }
    config.static_positions = !learned;
    config.rotary = position == Position::rotary;
    if (position == Position::relative) config.relative = kT5RelativePositions;
  }
  if (config.relative.enabled()) {
    config.relative = read_relative_position_bias_config(reader, config.relative);
    return;
  }
  for (const char* key : {kBuckets, kMaxDistance}) {
    if (reader.find(key) == nullptr) continue;
    reader.fail(key, "is for position \"relative\", which this model does not use; leave it out");
  }
}

/// Checks the number of key/value heads. `heads` is the key of the stack's number of heads.
void check_key_value_heads(const ModelConfig& config, const KeyNames& names,
                           int ModelConfig::*heads) {
  const int all = config.*heads, shared = config.key_value_heads;
  if (shared == 0 || (shared <= all && all % shared == 0)) return;
  throw InputError("{}: {} {} does not divide {} {}; use {}", names.where,
                   names.of("key_value_heads"), shared, names.of(size_key_name(heads)), all,
                   list_divisors(all));
}

void check_inner(const ModelConfig& config, const KeyNames& names, int ModelConfig::*heads) {
  const std::int64_t columns = std::int64_t{config.head_dim} * (config.*heads);
  if (columns <= ModelLimits::d_model) return;
  throw InputError("{}: {} {} times {} {} is beyond the limit of {} columns", names.where,
                   names.of("head_dim"), config.head_dim, names.of(size_key_name(heads)),
                   config.*heads, std::int64_t{ModelLimits::d_model});
}

void check_rotary(const KeyNames& names, int head_dim) {
  if (head_dim % 2 == 0) return;
  throw InputError(
      "{}: {} \"rotary\" rotates pairs of a head's columns, and a head has {}; choose an even "
      "head_dim",
      names.where, names.of("position"), head_dim);
}

/// Checks a sparse approximation. `key` is the pattern's key.
void check_approximation(const ModelConfig& config, const KeyNames& names, const char* key,
                         const AttentionPattern& pattern) {
  if (!sparse_pattern(pattern).approximates()) return;
  const char* part = config.relative.enabled()    ? "position \"relative\""
                     : config.rotary              ? "position \"rotary\""
                     : config.key_value_heads > 0 ? "key_value_heads"
                                                  : nullptr;
  if (part == nullptr) return;
  throw InputError(
      "{}: {} {} cannot be combined with {}; choose a kind that leaves keys out (window, "
      "longformer, …), "
      "or full",
      names.where, names.of(key), pattern_name(pattern.type), part);
}

}  // namespace

RelativePositionBiasConfig read_relative_position_bias_config(
    KeyReader& reader, const RelativePositionBiasConfig& otherwise) {
  RelativePositionBiasConfig relative = otherwise;
  read_within(reader, kBuckets, relative.buckets, 4, ModelLimits::d_model);
  if (relative.buckets % 2 != 0) {
    reader.fail(kBuckets, fmt::format("is {}; use an even number, as each direction has half of "
                                      "them in the encoder",
                                      relative.buckets));
  }
  read_within(reader, kMaxDistance, relative.max_distance, 1, ModelLimits::positions);
  if (relative.max_distance <= relative.buckets / 2) {
    reader.fail(kMaxDistance, fmt::format("is {}; use more than {}, half of {}",
                                          relative.max_distance, relative.buckets / 2, kBuckets));
  }
  return relative;
}

void write_relative_position_config(const RelativePositionBiasConfig& relative, Json& json) {
  json[kBuckets] = relative.buckets;
  json[kMaxDistance] = relative.max_distance;
}

void read_custom_architecture(KeyReader& reader, ModelConfig& config) {
  read_within(reader, "head_dim", config.head_dim, 1, ModelLimits::d_model);
  read_within(reader, "key_value_heads", config.key_value_heads, 1, ModelLimits::d_model);
  read_position(reader, config);
  const std::array<const char*, 2> norms = {"layer", "rms"};
  if (read_word(reader, "norm", norms) == 1U) {
    config.norm = NormType::rms;
    config.norm_epsilon = kRmsEpsilon;
  }
  const std::array<const char*, 2> forms = {"plain", "gated"};
  config.gated = read_word(reader, "feed_forward", forms) == 1U;
}

void normalize_custom_architecture(ModelConfig& config) {
  const auto usual = [&](int heads) { return heads * config.head_dim == config.d_model; };
  if (usual(config.encoder_heads) && usual(config.decoder_heads)) config.head_dim = 0;
  const int shared = config.key_value_heads;
  if (shared == config.encoder_heads && shared == config.decoder_heads) config.key_value_heads = 0;
}

bool has_custom_architecture(const ModelConfig& config) {
  return config.head_dim > 0 || config.key_value_heads > 0 || !config.absolute_positions ||
         config.norm == NormType::rms || config.gated;
}

std::optional<std::string> custom_architecture_note(const ModelConfig& config) {
  const ModelFamily& family = family_of(config);
  const int rows = config.max_positions + family.position_offset;
  if (family.positions_start_after_pad && config.pad_token_id >= rows) {
    return fmt::format(
        "transformers cannot build {} with pad_token_id {}, which is beyond the {} rows of its "
        "positions; only attn-demo loads this model",
        family.class_name, config.pad_token_id, rows);
  }
  if (!family.uses_marian_keys || !has_custom_architecture(config)) return std::nullopt;
  Json keys = Json::object();
  write_custom_architecture(config, keys);
  std::string words;
  for (const auto& [key, value] : keys.items()) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", key, value.dump());
  }
  return fmt::format("transformers has no class with {}; only attn-demo loads this model", words);
}

void write_custom_architecture(const ModelConfig& config, Json& json) {
  if (config.head_dim > 0) json["head_dim"] = config.head_dim;
  if (config.key_value_heads > 0) json["key_value_heads"] = config.key_value_heads;
  if (!config.absolute_positions) {
    json.erase(kStatic);
    json["position"] = at(kPositions, position_of(config));
  }
  if (config.relative.enabled()) write_relative_position_config(config.relative, json);
  if (config.norm == NormType::rms) json["norm"] = "rms";
  if (config.gated) json["feed_forward"] = "gated";
}

void check_custom_architecture(const ModelConfig& config, const KeyNames& names) {
  for (int ModelConfig::*heads : {&ModelConfig::encoder_heads, &ModelConfig::decoder_heads}) {
    check_inner(config, names, heads);
    check_key_value_heads(config, names, heads);
  }
  if (config.rotary) {
    check_rotary(names, config.encoder_head_dim());
    check_rotary(names, config.decoder_head_dim());
  }
  check_approximation(config, names, "encoder_attention", config.encoder_attention);
  check_approximation(config, names, "decoder_attention", config.decoder_attention);
}

}  // namespace attn
