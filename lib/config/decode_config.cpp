#include "config/decode_config.h"

#include <array>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "config/key_reader.h"

namespace attn {
namespace {

/// Integer keys: null counts as not said, as in generation_config.json.
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

/// An id, null, or a list with one id.
std::optional<std::optional<int>> read_forced(KeyReader& reader, const std::string& key) {
  const Json* value = reader.find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_null()) return std::optional<int>();
  const Json* single = value->is_array() && value->size() == 1 ? &value->front() : value;
  const std::optional<int> id = as_int(*single);
  if (!id || *id < 0) reader.fail_type(key, *value, "a token id or null");
  return std::optional<std::optional<int>>(std::in_place, *id);
}

/// `generate` lets max_new_tokens win; its max_length counts the start symbol too.
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

DecodeOptions read_options(KeyReader& reader) {
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
  return options;
}

/// A key of `generate` that changes its results and is not supported, with the value that does
/// nothing (null and an empty list never do anything).
struct Unsupported {
  const char* key;
  double neutral;
};

constexpr double kNoNeutral = std::numeric_limits<double>::quiet_NaN();

constexpr std::array<Unsupported, 27> kUnsupported = {{
    {"do_sample", 0},
    {"num_beam_groups", 1},
    {"diversity_penalty", 0},
    {"penalty_alpha", 0},
    {"repetition_penalty", 1},
    {"encoder_repetition_penalty", 1},
    {"no_repeat_ngram_size", 0},
    {"encoder_no_repeat_ngram_size", 0},
    {"min_length", 0},
    {"min_new_tokens", 0},
    {"guidance_scale", 1},
    {"forced_decoder_ids", kNoNeutral},
    {"force_words_ids", kNoNeutral},
    {"constraints", kNoNeutral},
    {"suppress_tokens", kNoNeutral},
    {"begin_suppress_tokens", kNoNeutral},
    {"sequence_bias", kNoNeutral},
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
  if (value.is_number()) return value.get<double>() != neutral;  // always, for NaN
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
  return read_options(reader);
}

DecodeOptions decode_options_from_experiment(const Json& json, const std::string& where) {
  KeyReader reader(json, where, "decode.");
  DecodeOptions options = read_options(reader);
  reader.refuse_unused();
  return options;
}

DecodeOptions merge(const DecodeOptions& stronger, const DecodeOptions& weaker) {
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
  return merged;
}

DecodeConfig resolve(const DecodeOptions& options, std::optional<int> default_forced_eos,
                     const std::string& where) {
  constexpr int kMostBeams = 1000;
  DecodeConfig config;
  config.num_beams = options.num_beams.value_or(1);
  config.num_return_sequences = options.num_return_sequences.value_or(1);
  config.length_penalty = options.length_penalty.value_or(1.0F);
  config.early_stopping = options.early_stopping.value_or(EarlyStopping::no);
  config.bad_words_ids = options.bad_words_ids.value_or(std::vector<std::vector<int>>());
  config.forced_bos_token_id = options.forced_bos_token_id.value_or(std::nullopt);
  config.forced_eos_token_id = options.forced_eos_token_id.value_or(default_forced_eos);
  config.renormalize_logits = options.renormalize_logits.value_or(false);
  config.longest_source = options.longest_source.value_or(0);
  config.eos_token_ids = options.eos_token_ids;
  if (config.num_beams < 1 || config.num_beams > kMostBeams) {
    throw InputError("{}: num_beams {} is out of range; use 1 to {}", where, config.num_beams,
                     kMostBeams);
  }
  if (config.num_return_sequences < 1 || config.num_return_sequences > config.num_beams) {
    throw InputError("{}: num_return_sequences {} is out of range; with num_beams {} use 1{}",
                     where, config.num_return_sequences, config.num_beams,
                     config.num_beams > 1 ? fmt::format(" to {}", config.num_beams) : "");
  }
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

}  // namespace attn
