#include "text/tokenizer_settings.h"

#include <cstdint>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/strings/excerpt.h"

namespace attn {
namespace {

constexpr const char* kSettings = "/tokenizer_config.json";
constexpr const char* kOlder = "/special_tokens_map.json";

/// "</s>" or {"content": "</s>", …}.
std::string token_text(const Json& value, const std::string& key, const std::string& where) {
  const Json& text = value.is_object() && value.contains("content") ? value["content"] : value;
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
    throw InputError("{}: {} is {}; expected a piece like \"</s>\" or {{\"content\": \"</s>\"}}",
                     where, excerpt(key), excerpt(value.dump()));
  }
  return text;
}

bool flag(const Json& value, const std::string& key, const std::string& where) {
  if (!value.is_boolean()) {
    throw InputError("{}: {} is {}; expected true or false", where, key, excerpt(value.dump()));
  }
  return value;
}

int offset_of(const Json& value, const std::string& where) {
  constexpr std::int64_t kMost = 100'000;
  if (value.is_number_integer()) {
    const auto offset = value.get<std::int64_t>();
    if (offset >= 0 && offset <= kMost) return static_cast<int>(offset);
  }
  throw InputError("{}: offset is {}; expected an integer from 0 to {}", where,
                   excerpt(value.dump()), kMost);
}

void read_list(const Json& value, const std::string& key, const std::string& where,
               TokenizerSettings& settings) {
  if (!value.is_array() && !value.is_object()) {
    throw InputError("{}: {} is {}; expected a list of pieces", where, key, excerpt(value.dump()));
  }
  for (const Json& token : value) {
    settings.more_special_tokens.push_back(token_text(token, key, where));
  }
}

void read_keys(const Json& document, const std::string& where, TokenizerSettings& settings) {
  if (!document.is_object()) throw InputError("{}: expected a JSON object", where);
  for (const auto& [key, value] : document.items()) {
    if (key.ends_with("_token") || key == "mask_token_sent") {
      const bool text = value.is_string() || value.is_object();
      if (value.is_null()) settings.named[key] = std::nullopt;
      if (text) settings.named[key] = token_text(value, key, where);
    }
    if (value.is_null()) continue;
    if (key == "eos_token") {
      settings.eos_token = token_text(value, key, where);
    } else if (key == "unk_token") {
      settings.unk_token = token_text(value, key, where);
    } else if (key == "pad_token") {
      settings.pad_token = token_text(value, key, where);
    } else if (key == "separate_vocabs") {
      settings.separate_vocabularies = flag(value, key, where);
    } else if (key == "clean_up_tokenization_spaces") {
      settings.clean_up_spaces = flag(value, key, where);
    } else if (key == "add_prefix_space") {
      settings.add_prefix_space = flag(value, key, where);
    } else if (key == "offset") {
      settings.offset = offset_of(value, where);
    } else if (key == "additional_special_tokens" || key == "extra_special_tokens") {
      read_list(value, key, where, settings);
    } else if (key.ends_with("_token") && (value.is_string() || value.is_object())) {
      settings.more_special_tokens.push_back(token_text(value, key, where));
    }
  }
}

}  // namespace

std::optional<std::string> TokenizerSettings::named_or(const std::string& key,
                                                       const char* otherwise) const {
  const auto found = named.find(key);
  return found == named.end() ? std::optional<std::string>(otherwise) : found->second;
}

TokenizerSettings parse_tokenizer_settings(std::optional<std::string_view> text,
                                           std::optional<std::string_view> older,
                                           const std::string& directory) {
  TokenizerSettings settings;
  const std::string where = directory + kSettings;
  const Json document = text ? parse_json(*text, where) : Json::object();
  read_keys(document, where, settings);
  // As transformers does: the older file wins, unless the newer one lists the tokens itself.
  if (older && !document.contains("added_tokens_decoder")) {
    read_keys(parse_json(*older, directory + kOlder), directory + kOlder, settings);
  }
  return settings;
}

TokenizerSettings read_tokenizer_settings(const std::string& directory) {
  const auto text_of = [&](const char* name) {
    const std::string path = directory + name;
    return file_exists(path) ? std::optional(read_file(path)) : std::nullopt;
  };
  const std::optional<std::string> text = text_of(kSettings);
  return parse_tokenizer_settings(text, text_of(kOlder), directory);
}

}  // namespace attn
