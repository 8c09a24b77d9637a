#include "config/decode_config.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

/// A key of `generate` that changes its results and is not supported, with the value that has no
/// effect. Null and an empty list never have an effect.
struct Unsupported {
  const char* key;
  double neutral;
};

constexpr double kNoNeutral = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<Unsupported, 19> kUnsupported = {{
    {"do_sample", 0},
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"encoder_repetition_penalty", 1},
    {"guidance_scale", 1},
    {"forced_decoder_ids", kNoNeutral},
    {"force_words_ids", kNoNeutral},
    {"constraints", kNoNeutral},
    {"exponential_decay_length_penalty", kNoNeutral},
    {"remove_invalid_values", 0},
    {"stop_strings", kNoNeutral},
    {"max_time", kNoNeutral},
    {"dola_layers", kNoNeutral},
    {"prompt_lookup_num_tokens", kNoNeutral},
    {"watermarking_config", kNoNeutral},
    {"token_healing", 0},
    {"custom_generate", kNoNeutral},
    {"low_memory", 0},
}};

bool changes_results(const Json& value, double neutral) {
  if (value.is_null()) return false;
  if (value.is_array() || value.is_object()) return !value.empty();
  if (value.is_boolean()) return value.get<bool>() != (neutral != 0);
  if (value.is_number()) return value.get<double>() != neutral;  // always true for NaN
  return true;
}

}  // namespace

DecodeOptions decode_options_from_directory(const Json& json, const std::string& where,
                                            std::vector<std::string>& notes) {
  KeyReader reader(json, where);
  for (const Unsupported& unsupported : kUnsupported) {
    const Json* value = reader.find(unsupported.key);
    if (value == nullptr || !changes_results(*value, unsupported.neutral)) continue;
    notes.push_back(
        fmt::format("{}: {} {} is not supported and ignored; transformers' generate "
                    "may give other results",
                    where, unsupported.key, describe(*value)));
  }
  return read_decode_options(reader);
}

DecodeOptions decode_options_from_experiment(const Json& json, const std::string& where) {
  KeyReader reader(json, where, "decode.");
  DecodeOptions options = read_decode_options(reader);
  reader.refuse_unused();
  return options;
}

std::vector<std::string> task_prefixes(const DecodeOptions& options) {
  std::vector<std::string> prefixes;
  if (options.task_specific_params == nullptr || !options.task_specific_params->is_object())
    return prefixes;
  for (const Json& task : *options.task_specific_params) {
    if (!task.is_object() || !task.contains("prefix") || !task["prefix"].is_string()) continue;
    const auto prefix = task["prefix"].get<std::string>();
    if (std::ranges::find(prefixes, prefix) == prefixes.end()) prefixes.push_back(prefix);
  }
  return prefixes;
}

DecodeOptions merge_decode_options(const DecodeOptions& stronger, const DecodeOptions& weaker) {
  DecodeOptions merged = stronger;
  const auto fill = [](auto& target, const auto& source) {
    if (!target.has_value()) target = source;
  };
  fill(merged.num_beams, weaker.num_beams);
  fill(merged.num_return_sequences, weaker.num_return_sequences);
  fill(merged.length_penalty, weaker.length_penalty);
  fill(merged.early_stopping, weaker.early_stopping);
  fill(merged.max_length, weaker.max_length);
  fill(merged.bad_words_ids, weaker.bad_words_ids);
  fill(merged.forced_bos_token_id, weaker.forced_bos_token_id);
  fill(merged.forced_eos_token_id, weaker.forced_eos_token_id);
  fill(merged.renormalize_logits, weaker.renormalize_logits);
  fill(merged.longest_source, weaker.longest_source);
  fill(merged.eos_token_ids, weaker.eos_token_ids);
  fill(merged.no_repeat_ngram_size, weaker.no_repeat_ngram_size);
  fill(merged.encoder_no_repeat_ngram_size, weaker.encoder_no_repeat_ngram_size);
  fill(merged.repetition_penalty, weaker.repetition_penalty);
  fill(merged.min_new_tokens, weaker.min_new_tokens);
  fill(merged.suppress_tokens, weaker.suppress_tokens);
  fill(merged.begin_suppress_tokens, weaker.begin_suppress_tokens);
  fill(merged.sequence_bias, weaker.sequence_bias);
  fill(merged.do_sample, weaker.do_sample);
  fill(merged.sampling_seed, weaker.sampling_seed);
  fill(merged.temperature, weaker.temperature);
  fill(merged.top_k, weaker.top_k);
  fill(merged.top_p, weaker.top_p);
  fill(merged.min_p, weaker.min_p);
  fill(merged.typical_p, weaker.typical_p);
  if (merged.document == nullptr) merged.document = weaker.document;
  if (merged.task_specific_params == nullptr)
    merged.task_specific_params = weaker.task_specific_params;
  return merged;
}

namespace {

/// Sets the rules that change scores before a token is chosen.
void resolve_rules(const DecodeOptions& options, DecodeConfig& config) {
  config.bad_words_ids = options.bad_words_ids.value_or(std::vector<std::vector<int>>());
  config.no_repeat_ngram_size = options.no_repeat_ngram_size.value_or(0);
  config.encoder_no_repeat_ngram_size = options.encoder_no_repeat_ngram_size.value_or(0);
  config.repetition_penalty = options.repetition_penalty.value_or(1.0F);
  config.min_new_tokens = options.min_new_tokens.value_or(0);
  config.suppress_tokens = options.suppress_tokens.value_or(std::vector<int>());
  config.begin_suppress_tokens = options.begin_suppress_tokens.value_or(std::vector<int>());
  config.sequence_bias = options.sequence_bias.value_or(std::vector<SequenceBias>());
}

std::optional<Sampling> resolve_sampling(const DecodeOptions& o, const std::string& where) {
  if (!o.do_sample.value_or(false)) return std::nullopt;
  Sampling s;
  s.seed = o.sampling_seed.value_or(s.seed);
  // Takes a given value. Throws InputError if it is outside the range that `expected` names.
  const auto take = [&where](auto& to, const auto& given, const char* key, const char* expected,
                             auto&& is_in_range) {
    if (!given) return;
    if (!is_in_range(*given))
      throw InputError("{}: {} {} is out of range; use {}", where, key, *given, expected);
    to = *given;
  };
  const auto above_0 = [](float share) { return share > 0 && share <= 1; };
  take(s.temperature, o.temperature, "temperature", "0.001 to 1000",
       [](float t) { return t >= 1e-3F && t <= 1e3F; });
  take(s.top_k, o.top_k, "top_k", "0 (all) or more", [](int k) { return k >= 0; });
  take(s.top_p, o.top_p, "top_p", "above 0, up to 1", above_0);
  take(s.min_p, o.min_p, "min_p", "0 to 1", [](float share) { return share >= 0 && share <= 1; });
  take(s.typical_p, o.typical_p, "typical_p", "above 0, up to 1", above_0);
  return s;
}

/// Sets the number of translations and of beams.
void resolve_width(const DecodeOptions& options, const std::string& where, DecodeConfig& config) {
  constexpr int kMostBeams = 1000;
  config.sampling = resolve_sampling(options, where);
  config.num_beams = config.sampling ? 1 : options.num_beams.value_or(1);
  config.num_return_sequences = options.num_return_sequences.value_or(1);
  if (config.num_beams < 1 || config.num_beams > kMostBeams) {
    throw InputError("{}: num_beams {} is out of range; use 1 to {}", where, config.num_beams,
                     kMostBeams);
  }
  const int most = config.sampling ? kMostBeams : config.num_beams;
  if (config.num_return_sequences < 1 || config.num_return_sequences > most) {
    throw InputError("{}: num_return_sequences {} is out of range; {}use 1{}", where,
                     config.num_return_sequences,
                     config.sampling ? "" : fmt::format("with num_beams {} ", config.num_beams),
                     most > 1 ? fmt::format(" to {}", most) : "");
  }
}

}  // namespace

DecodeConfig resolve_decode_options(const DecodeOptions& options,
                                    std::optional<int> default_forced_eos,
                                    const std::string& where) {
  DecodeConfig config;
  resolve_width(options, where, config);
  config.length_penalty = options.length_penalty.value_or(1.0F);
  config.early_stopping = options.early_stopping.value_or(EarlyStopping::no);
  resolve_rules(options, config);
  config.forced_bos_token_id = options.forced_bos_token_id.value_or(std::nullopt);
  config.forced_eos_token_id = options.forced_eos_token_id.value_or(default_forced_eos);
  config.renormalize_logits = options.renormalize_logits.value_or(false);
  config.longest_source = options.longest_source.value_or(0);
  config.eos_token_ids = options.eos_token_ids;
  config.document = options.document;
  config.task_specific_params = options.task_specific_params;
  if (!std::isfinite(config.length_penalty)) {
    throw InputError("{}: length_penalty {} is not a number; use a finite one such as 1.0", where,
                     config.length_penalty);
  }
  if (options.max_length) {
    if (*options.max_length < 2) {
      throw InputError(
          "{}: max_length {} leaves no token to produce; it counts the start symbol, "
          "so use 2 or more",
          where, *options.max_length);
    }
    config.max_new_tokens = *options.max_length - 1;
  }
  return config;
}

namespace {

/// Reads an integer. As in generation_config.json, null means that the key is not set.
std::optional<int> optional_int(KeyReader& reader, const std::string& key) {
  return reader.find_not_null(key) == nullptr ? std::nullopt : reader.integer(key);
}

std::optional<EarlyStopping> read_early_stopping(KeyReader& reader) {
  const std::string key = "early_stopping";
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>() ? EarlyStopping::yes : EarlyStopping::no;
  if (*value == "never") return EarlyStopping::never;
  reader.fail_type(key, *value, "true, false or \"never\"");
}

std::optional<std::vector<std::vector<int>>> read_bad_words(KeyReader& reader) {
  const std::string key = "bad_words_ids";
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a list of lists of token ids, such as [[58100]]";
  if (!value->is_array()) reader.fail_type(key, *value, expected);
  std::vector<std::vector<int>> words;
  for (const Json& item : *value) {
    if (!item.is_array() || item.empty()) reader.fail_type(key, *value, expected);
    std::vector<int> word;
    for (const Json& element : item) {
      const std::optional<int> id = as_int(element);
      if (!id || *id < 0) reader.fail_type(key, *value, expected);
      word.push_back(*id);
    }
    words.push_back(std::move(word));
  }
  return words;
}

/// Reads an id, null, or a list with one id.
std::optional<std::optional<int>> read_forced(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_null()) return std::optional<int>();
  const Json* single = value->is_array() && value->size() == 1 ? &value->front() : value;
  const std::optional<int> id = as_int(*single);
  if (!id || *id < 0) reader.fail_type(key, *value, "a token id or null");
  return std::optional<std::optional<int>>(std::in_place, *id);
}

/// Reads the maximum length. As in `generate`, max_new_tokens takes precedence, and max_length
/// includes the start symbol.
std::optional<int> read_length(KeyReader& reader) {
  const std::optional<int> whole = optional_int(reader, "max_length");
  const std::optional<int> produced = optional_int(reader, "max_new_tokens");
  if (!produced) return whole;
  if (*produced < 1) reader.fail("max_new_tokens", fmt::format("is {}; use 1 or more", *produced));
  return *produced == std::numeric_limits<int>::max() ? *produced : *produced + 1;
}

std::optional<float> read_length_penalty(KeyReader& reader) {
  if (reader.find_not_null("length_penalty") == nullptr) return std::nullopt;
  const auto value = static_cast<float>(*reader.number("length_penalty"));
  if (!std::isfinite(value)) reader.fail("length_penalty", "is beyond the range of a float");
  return value;
}

/// Reads an integer of 0 or more.
std::optional<int> read_count(KeyReader& reader, const std::string& key, const char* zero) {
  const std::optional<int> count = optional_int(reader, key);
  if (count && *count < 0) {
    reader.fail(key, fmt::format("is {}; use 0 ({}) or more", *count, zero));
  }
  return count;
}

std::optional<float> read_repetition_penalty(KeyReader& reader) {
  const std::string key = "repetition_penalty";
  if (reader.find_not_null(key) == nullptr) return std::nullopt;
  const double value = *reader.number(key);
  if (!(static_cast<float>(value) > 0) || !std::isfinite(static_cast<float>(value))) {
    reader.fail(key, fmt::format("is {}; use a number above 0, 1 for no penalty", value));
  }
  return static_cast<float>(value);
}

/// Reads a list of ids, without negative ones, which no token has.
std::optional<std::vector<int>> read_tokens(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a list of token ids, such as [50256]";
  if (!value->is_array()) reader.fail_type(key, *value, expected);
  std::vector<int> ids;
  for (const Json& element : *value) {
    const std::optional<int> id = as_int(element);
    if (!id) reader.fail_type(key, *value, expected);
    if (*id >= 0) ids.push_back(*id);
  }
  return ids;
}

/// Reads [[[id, …], bias], …] as in generation_config.json. If the same ids occur again, the last
/// bias is used, at the position of the first.
std::optional<std::vector<SequenceBias>> read_sequence_bias(KeyReader& reader) {
  const std::string key = "sequence_bias";
  const Json* value = reader.find_not_null(key);
  if (value == nullptr) return std::nullopt;
  const std::string expected = "a list of ids with a bias each, such as [[[17, 4], -2.5]]";
  if (!value->is_array()) reader.fail_type(key, *value, expected);
  std::vector<SequenceBias> biases;
  for (const Json& item : *value) {
    const bool pair = item.is_array() && item.size() == 2 && item[0].is_array() &&
                      !item[0].empty() && item[1].is_number();
    if (!pair) reader.fail_type(key, *value, expected);
    SequenceBias bias{{}, static_cast<float>(item[1].get<double>())};
    for (const Json& element : item[0]) {
      const std::optional<int> id = as_int(element);
      if (!id || *id < 0) reader.fail_type(key, *value, expected);
      bias.ids.push_back(*id);
    }
    if (!std::isfinite(bias.bias)) reader.fail(key, "holds a bias beyond the range of a float");
    const auto same = std::ranges::find(biases, bias.ids, &SequenceBias::ids);
    if (same == biases.end()) {
      biases.push_back(std::move(bias));
    } else {
      *same = std::move(bias);
    }
  }
  return biases;
}

/// Reads the minimum length. As in `generate`, min_new_tokens takes precedence.
std::optional<int> read_min_new_tokens(KeyReader& reader) {
  const std::optional<int> whole = read_count(reader, "min_length", "any length");
  const std::optional<int> produced = read_count(reader, "min_new_tokens", "any length");
  if (produced) return produced;
  if (!whole) return std::nullopt;
  return std::max(0, *whole - 1);
}

/// Reads the sampling settings. Their ranges are checked only if sampling is used.
void read_sampling(KeyReader& reader, DecodeOptions& options) {
  const auto number = [&](const char* key) -> std::optional<float> {
    if (reader.find_not_null(key) == nullptr) return std::nullopt;
    return static_cast<float>(*reader.number(key));
  };
  options.temperature = number("temperature");
  options.top_k = optional_int(reader, "top_k");
  options.top_p = number("top_p");
  options.min_p = number("min_p");
  options.typical_p = number("typical_p");
}

}  // namespace

DecodeOptions read_decode_options(KeyReader& reader) {
  DecodeOptions options;
  options.num_beams = optional_int(reader, "num_beams");
  options.num_return_sequences = optional_int(reader, "num_return_sequences");
  options.length_penalty = read_length_penalty(reader);
  options.early_stopping = read_early_stopping(reader);
  options.max_length = read_length(reader);
  options.bad_words_ids = read_bad_words(reader);
  options.forced_bos_token_id = read_forced(reader, "forced_bos_token_id");
  options.forced_eos_token_id = read_forced(reader, "forced_eos_token_id");
  options.longest_source = optional_int(reader, "longest_source");
  if (options.longest_source && *options.longest_source < 2) {
    reader.fail("longest_source",
                fmt::format("is {}; it counts the end symbol, so use 2 or more tokens",
                            *options.longest_source));
  }
  if (reader.find_not_null("renormalize_logits") != nullptr) {
    options.renormalize_logits = reader.boolean("renormalize_logits");
  }
  options.no_repeat_ngram_size = read_count(reader, "no_repeat_ngram_size", "off");
  options.encoder_no_repeat_ngram_size = read_count(reader, "encoder_no_repeat_ngram_size", "off");
  options.repetition_penalty = read_repetition_penalty(reader);
  options.min_new_tokens = read_min_new_tokens(reader);
  options.suppress_tokens = read_tokens(reader, "suppress_tokens");
  options.begin_suppress_tokens = read_tokens(reader, "begin_suppress_tokens");
  options.sequence_bias = read_sequence_bias(reader);
  read_sampling(reader, options);
  return options;
}

}  // namespace attn
