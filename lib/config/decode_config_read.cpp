#include "config/decode_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace attn {
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
