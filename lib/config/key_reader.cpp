#include "config/key_reader.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "base/at.h"
#include "base/error.h"
#include "config/attention_site.h"

namespace attn {

std::string describe(const Json& value) {
  constexpr std::size_t kLongest = 40;
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

std::string in_quotes(std::string_view text) {
  return describe(Json(std::string(text)));
}

std::string list_words(const std::vector<std::string>& words, std::string_view last) {
  std::string list;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) list += i + 1 == words.size() ? fmt::format(" {} ", last) : ", ";
    list += words[i];
  }
  return list;
}

std::optional<int> as_int(const Json& value) {
  const auto where_it_fits = [](auto number) {
    return std::in_range<int>(number) ? std::optional(to_int(number)) : std::nullopt;
  };
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned()) {
    return where_it_fits(value.get<std::uint64_t>());
  }
  return where_it_fits(value.get<std::int64_t>());
}

KeyReader::KeyReader(const Json& object, std::string where, std::string prefix)
    : object_(object), where_(std::move(where)), prefix_(std::move(prefix)) {
  if (object_.is_object()) return;
  const std::string name = prefix_.empty() ? "" : prefix_.substr(0, prefix_.size() - 1) + ": ";
  throw InputError("{}: {}expected a JSON object, {{...}}, but found {}", where_, name,
                   describe(object_));
}

thread_local std::vector<std::string>* KeyReader::watcher_ = nullptr;

const Json* KeyReader::find(const std::string& key) {
  if (watcher_ != nullptr) watcher_->push_back(prefix_ + key);
  if (std::find(known_.begin(), known_.end(), key) == known_.end()) known_.push_back(key);
  const auto found = object_.find(key);
  return found == object_.end() ? nullptr : &*found;
}

const Json* KeyReader::find_not_null(const std::string& key) {
  const Json* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

void KeyReader::fail(const std::string& key, const std::string& message) const {
  throw InputError("{}: {}{} {}", where_, prefix_, key, message);
}

float KeyReader::as_float(const std::string& key, double value, double high,
                          const std::string& expected) const {
  const auto used = static_cast<float>(value);
  if (static_cast<double>(used) < high && (used != 0 || value == 0)) return used;
  fail(key, fmt::format("{} is {} as a 32-bit float; use {}", value, used, expected));
}

void KeyReader::fail_type(const std::string& key, const Json& found,
                          const std::string& expected) const {
  fail(key, fmt::format("is {}; expected {}", describe(found), expected));
}

std::optional<bool> KeyReader::boolean(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_boolean()) fail_type(key, *value, "true or false");
  return value->get<bool>();
}

std::optional<double> KeyReader::number(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number()) fail_type(key, *value, "a number");
  return value->get<double>();
}

std::optional<std::string> KeyReader::text(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) fail_type(key, *value, "a string");
  return value->get<std::string>();
}

std::optional<int> KeyReader::integer(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (const std::optional<int> number = as_int(*value)) return number;
  if (value->is_number_integer()) fail_type(key, *value, "an integer below 2147483648");
  fail_type(key, *value, "an integer");
}

std::optional<double> KeyReader::size(const std::string& key) {
  const Json* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_number_integer()) return value->get<double>();
  // JSON integers beyond 64 bits are parsed as floating point.
  constexpr double kBeyond64Bits = 9.2e18;
  if (value->is_number_float() && std::fabs(value->get<double>()) > kBeyond64Bits) {
    return value->get<double>();
  }
  fail_type(key, *value, "an integer");
}

std::vector<std::string> KeyReader::unused() const {
  std::vector<std::string> keys;
  for (const auto& item : object_.items()) {
    if (std::find(known_.begin(), known_.end(), item.key()) == known_.end()) {
      keys.push_back(item.key());
    }
  }
  return keys;
}

void KeyReader::refuse_unused() const {
  const std::vector<std::string> keys = unused();
  if (keys.empty()) return;
  const std::string what = prefix_.empty() ? "section" : "key";
  const std::string inside =
      prefix_.empty() ? "" : fmt::format(" in {}", prefix_.substr(0, prefix_.size() - 1));
  const std::string found = fmt::format("unknown {} {}{}", what, in_quotes(keys.front()), inside);
  const std::vector<std::string> meant = keys_for_alias(keys.front(), known_);
  if (!meant.empty()) {
    throw InputError("{}: {}; its name here is {}", where_, found,
                     fmt::format("{}", fmt::join(meant, " and ")));
  }
  const std::string close = nearest_word(keys.front(), known_);
  if (known_.size() <= 4 && edit_distance(keys.front(), close) > 2) {  // or close to nothing
    throw InputError("{}: {}; its keys are {}", where_, found,
                     fmt::format("{}", fmt::join(known_, ", ")));
  }
  throw InputError("{}: {}; the nearest known one is {}", where_, found, in_quotes(close));
}

std::size_t edit_distance(std::string_view word, std::string_view other) {
  // The Levenshtein distance, one row at a time.
  std::vector<std::size_t> row(other.size() + 1);
  for (std::size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= word.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j < row.size(); ++j) {
      const std::size_t replaced = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string nearest_word(const std::string& word, const std::vector<std::string>& known) {
  constexpr std::size_t kLongest = 256;  // a key of a megabyte is not a typo
  const std::string typed = word.substr(0, kLongest);
  const auto distance = [&typed](const std::string& candidate) {
    return std::pair(!candidate.starts_with(typed), edit_distance(typed, candidate));
  };
  const auto best = std::min_element(
      known.begin(), known.end(),
      [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  return best == known.end() ? "" : *best;
}

namespace {

struct KeyAliases {
  std::string_view words;
  std::string_view keys;
};

constexpr std::array<KeyAliases, 18> kKeyAliases = {{
    {"heads num_heads n_heads n_head nhead attention_heads num_attention_heads",
     "encoder_attention_heads decoder_attention_heads"},
    {"layers num_layers n_layers n_layer depth", "encoder_layers decoder_layers"},
    {"ffn ffn_dim d_ff dim_feedforward ffn_size intermediate_size feed_forward",
     "encoder_ffn_dim decoder_ffn_dim"},
    {"dim width model_dim hidden_dim embed_dim embedding_dim n_embd emb_size", "d_model"},
    {"activation act hidden_act", "activation_function"},
    {"positions max_positions max_len max_seq_len max_length max_position_embeddings",
     "max_position_embeddings max_encoder_position_embeddings max_decoder_position_embeddings"},
    {"window encoder_attention", "attention_window"},  // the keys of model_type attn-demo
    {"random_blocks encoder_attention", "num_random_blocks"},
    {"pre_norm prenorm norm_first", "normalize_before"},
    {"lr rate", "learning_rate"},
    {"warmup warmup_steps", "warmup_updates"},
    {"batch batch_size max_tokens", "batch_tokens"},
    {"steps max_steps train_steps max_updates max_update", "updates"},
    {"max_epochs num_epochs", "epochs"},
    {"smoothing", "label_smoothing"},
    {"early_stopping", "patience"},
    {"beam beams beam_size", "num_beams"},
    {"valid validation val", "dev"},
}};

bool holds(std::string_view list, const std::string& word) {
  const std::vector<std::string_view> words = split_at(list, ' ');
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

std::vector<std::string> keys_for_alias(const std::string& word,
                                        const std::vector<std::string>& known) {
  std::vector<std::string> keys;
  for (const KeyAliases& names : kKeyAliases) {
    if (!holds(names.words, word)) continue;
    for (const std::string_view key : split_at(names.keys, ' ')) {
      if (std::find(known.begin(), known.end(), key) != known.end()) keys.emplace_back(key);
    }
  }
  return keys;
}

}  // namespace attn
