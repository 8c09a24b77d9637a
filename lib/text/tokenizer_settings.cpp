#include "text/tokenizer_settings.h"

#include <algorithm>
#include <cstdint>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

constexpr std::int64_t kMostIds = 10'000'000;
constexpr const char* kSettings = "/tokenizer_config.json";
constexpr const char* kOlder = "/special_tokens_map.json";
constexpr const char* kAdded = "/added_tokens.json";

/// Reads "</s>" or {"content": "</s>", …}.
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

int count_of(const Json& value, const std::string& key, const std::string& where) {
  constexpr std::int64_t kMost = 100'000;
  if (value.is_number_integer()) {
    const auto count = value.get<std::int64_t>();
    if (count >= 0 && count <= kMost) return static_cast<int>(count);
  }
  throw InputError("{}: {} is {}; expected an integer from 0 to {}", where, key,
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

/// Reads {"58101": {"content": "<NAME>", …}, …}.
void read_decoder(const Json& value, const std::string& where, TokenizerSettings& settings) {
  if (!value.is_object()) {
    throw InputError("{}: added_tokens_decoder is {}; expected an object of ids and tokens", where,
                     excerpt(value.dump()));
  }
  for (const auto& [key, token] : value.items()) {
    constexpr std::size_t kMostDigits = 9;
    const bool number = !key.empty() && key.size() <= kMostDigits &&
                        key.find_first_not_of("0123456789") == key.npos;
    if (!number) {
      throw InputError("{}: added_tokens_decoder has the key \"{}\"; expected an id", where,
                       excerpt(key));
    }
    settings.added_tokens.push_back(read_added_token(token, std::stoi(key), where));
  }
}

/// Reads {"<NAME>": 58101, …}; the other files tell which of the tokens are special.
void read_older_added_tokens(const Json& document, const std::string& where,
                             TokenizerSettings& settings) {
  if (!document.is_object()) throw InputError("{}: expected a JSON object", where);
  const auto& special = settings.more_special_tokens;
  for (const auto& [text, id] : document.items()) {
    AddedToken token = read_added_token({{"content", text}}, id, where);
    token.special =
        settings.is_model_special_token(text) || std::ranges::find(special, text) != special.end();
    token.normalized = !token.special;
    settings.added_tokens.push_back(token);
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
    } else if (key == "added_tokens_decoder") {
      read_decoder(value, where, settings);
    } else if ((key == "src_lang" || key == "tgt_lang") && value.is_string()) {
      (key == "src_lang" ? settings.source_language : settings.target_language) = value;
    } else if ((key == "tokenizer_class" || key == "language_codes") && value.is_string()) {
      (key == "tokenizer_class" ? settings.tokenizer_class : settings.language_codes) = value;
    } else if (key == "legacy_behaviour") {
      settings.legacy_behaviour = flag(value, key, where);
    } else if (key == "offset" || key == "extra_ids") {
      (key == "offset" ? settings.offset : settings.extra_ids) = count_of(value, key, where);
    } else if (key == "additional_special_tokens" || key == "extra_special_tokens") {
      read_list(value, key, where, settings);
    } else if (key.ends_with("_token") && (value.is_string() || value.is_object())) {
      settings.more_special_tokens.push_back(token_text(value, key, where));
    }
  }
}

}  // namespace

std::optional<std::string> TokenizerSettings::token_or(const std::string& key,
                                                       const char* otherwise) const {
  const auto found = named.find(key);
  return found == named.end() ? std::optional<std::string>(otherwise) : found->second;
}

bool TokenizerSettings::is_model_special_token(const std::string& token) const {
  if (token == eos_token || token == unk_token || token == pad_token) return true;
  return std::ranges::any_of(named, [&](const auto& entry) { return entry.second == token; });
}

AddedToken read_added_token(const Json& value, const Json& id, const std::string& where) {
  const std::string what = "an added token";
  const auto number = id.is_number_integer() ? id.get<std::int64_t>() : -1;
  if (number < 0 || number > kMostIds || !value.is_object()) {
    throw InputError(
        "{}: {} is {} with the id {}; expected an object with its content, and an id "
        "from 0 to {}",
        where, what, excerpt(value.dump()), excerpt(id.dump()), kMostIds);
  }
  AddedToken token;
  token.text = token_text(value, what, where);
  token.id = static_cast<int>(number);
  token.normalized = true;
  for (const auto& [key, part] : value.items()) {
    bool* known = key == "single_word"  ? &token.single_word
                  : key == "lstrip"     ? &token.lstrip
                  : key == "rstrip"     ? &token.rstrip
                  : key == "normalized" ? &token.normalized
                  : key == "special"    ? &token.special
                                        : nullptr;
    if (known != nullptr) *known = flag(part, key, where);
  }
  return token;
}

TokenizerSettings parse_tokenizer_settings(const TokenizerSettingsFiles& texts,
                                           const std::string& directory) {
  TokenizerSettings settings;
  const std::string where = directory + kSettings;
  const Json document = texts.settings ? parse_json(*texts.settings, where) : Json::object();
  read_keys(document, where, settings);
  // The older files are used, as in transformers, unless the newer file lists the tokens itself.
  if (!document.contains("added_tokens_decoder")) {
    if (texts.older) {
      read_keys(parse_json(*texts.older, directory + kOlder), directory + kOlder, settings);
    }
    if (texts.added_tokens) {
      read_older_added_tokens(parse_json(*texts.added_tokens, directory + kAdded),
                              directory + kAdded, settings);
    }
  }
  std::ranges::sort(settings.added_tokens, {}, &AddedToken::id);
  for (AddedToken& token : settings.added_tokens) {
    token.typed_as_text = token.special && settings.is_model_special_token(token.text);
  }
  return settings;
}

TokenizerSettings read_tokenizer_settings(const std::string& directory) {
  const auto text_of = [&](const char* name) {
    const std::string path = directory + name;
    return file_exists(path) ? std::optional(read_file(path)) : std::nullopt;
  };
  return parse_tokenizer_settings({text_of(kSettings), text_of(kOlder), text_of(kAdded)},
                                  directory);
}

}  // namespace attn
