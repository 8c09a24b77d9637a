// Checks that the sizes, ids and settings of a ModelConfig fit together.
#include <algorithm>
#include <optional>

#include "base/at.h"
#include "base/error.h"
#include "base/files/files.h"
#include "config/custom_architecture.h"
#include "config/family.h"
#include "config/model_config.h"
#include "config/parameter_table.h"
#include "config/patterns/sparse_pattern.h"

namespace attn {
namespace {

std::string memory_text(const RawSizes& raw, const ModelConfig& config) {
  constexpr double kMostBytes = 1.8e19;  // just below 2^64
  constexpr double kMostSize = 1e18;     // larger sizes give the same message
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

/// Checks one id against one vocabulary, which its size key names.
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
    throw InputError("{}: {} {} does not fit {}'s sinusoids; use an even number of at least 4",
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

void validate(const ModelConfig& config, const std::string& where) {
  const KeyNames names{where, "", {}};
  check_sizes(raw_sizes(config), config, names);
  check_consistency(config, names);
}

}  // namespace attn
