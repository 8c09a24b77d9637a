#include "text/tokenizer_settings.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/utf8.h"

namespace attn {
namespace {

constexpr std::size_t kDigestDigits = 64;

/// "</s>" or {"content": "</s>", …}.
std::string token_text(const Json& value, const std::string& key, const std::string& where) {
  const Json& text = value.is_object() && value.contains("content") ? value["content"] : value;
  if (!text.is_string() || text.get_ref<const std::string&>().empty()) {
    throw InputError("{}: {} is {}; expected a piece like \"</s>\" or {{\"content\": \"</s>\"}}",
                     where, key, printable(value.dump().substr(0, 60)));
  }
  return text;
}

bool flag(const Json& value, const std::string& key, const std::string& where) {
  if (!value.is_boolean()) {
    throw InputError("{}: {} is {}; expected true or false", where, key,
                     printable(value.dump().substr(0, 60)));
  }
  return value;
}

void read_list(const Json& value, const std::string& key, const std::string& where,
               TokenizerSettings& settings) {
  if (!value.is_array() && !value.is_object()) {
    throw InputError("{}: {} is {}; expected a list of pieces", where, key,
                     printable(value.dump().substr(0, 60)));
  }
  for (const Json& token : value) {
    settings.more_special_tokens.push_back(token_text(token, key, where));
  }
}

void read_keys(const Json& document, const std::string& where, TokenizerSettings& settings) {
  if (!document.is_object()) throw InputError("{}: expected a JSON object", where);
  for (const auto& [key, value] : document.items()) {
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
    } else if (key == "additional_special_tokens" || key == "extra_special_tokens") {
      read_list(value, key, where, settings);
    } else if (key.ends_with("_token") && (value.is_string() || value.is_object())) {
      settings.more_special_tokens.push_back(token_text(value, key, where));
    }
  }
}

/// The name in a line "<64 digits>  <name>" of sha256sum; nothing where it is no such line.
std::string_view listed_name(std::string_view line) {
  if (line.size() < kDigestDigits + 3 || line[kDigestDigits] != ' ') return {};
  const std::string_view digest = line.substr(0, kDigestDigits);
  if (digest.find_first_not_of("0123456789abcdefABCDEF") != digest.npos) return {};
  const char mode = line[kDigestDigits + 1];  // '*' says that the file was read as binary
  if (mode != ' ' && mode != '*') return {};
  std::string_view name = line.substr(kDigestDigits + 2);
  if (name.starts_with("./")) name.remove_prefix(2);
  return name;
}

/// The digests listed for the two models, in lower case; empty where none is.
struct Checksums {
  std::string source;
  std::string target;
};

Checksums read_checksums(const std::string& directory) {
  Checksums checksums;
  const std::string where = directory + "/SHA256SUMS";
  if (!file_exists(where)) return checksums;
  const std::string list = read_file(where, std::size_t{1} << 20);
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find('\n', begin), list.size());
    std::string_view line = std::string_view(list).substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    const std::string_view name = listed_name(line);
    if (name.empty()) {
      throw InputError("{}: line {}: expected 64 hexadecimal digits, two blanks and a name", where,
                       number);
    }
    std::string digest(line.substr(0, kDigestDigits));
    for (char& c : digest) c = static_cast<char>(c >= 'A' && c <= 'F' ? c | 0x20 : c);
    if (name == "source.spm") checksums.source = digest;
    if (name == "target.spm") checksums.target = digest;
  }
  return checksums;
}

}  // namespace

TokenizerSettings read_tokenizer_settings(const std::string& directory) {
  TokenizerSettings settings;
  const std::string where = directory + "/tokenizer_config.json";
  Json document = Json::object();
  if (file_exists(where)) document = read_json_file(where);
  read_keys(document, where, settings);
  // As transformers does: the older file wins, unless the newer one lists the tokens itself.
  const std::string older = directory + "/special_tokens_map.json";
  if (!document.contains("added_tokens_decoder") && file_exists(older)) {
    read_keys(read_json_file(older), older, settings);
  }
  return settings;
}

void verify_checksums(const std::string& directory, std::string_view source_spm,
                      std::string_view target_spm) {
  const Checksums checksums = read_checksums(directory);
  if (checksums.source.empty() && checksums.target.empty()) return;
  const auto verify = [&](const char* name, const std::string& found, const std::string& expected) {
    if (expected.empty() || found == expected) return;
    throw InputError("{}/{}: its SHA-256 is {}…, but SHA256SUMS says {}…; copy the model again",
                     directory, name, found.substr(0, 12), expected.substr(0, 12));
  };
  const std::string source = sha256_hex(source_spm);
  verify("source.spm", source, checksums.source);
  verify("target.spm", target_spm == source_spm ? source : sha256_hex(target_spm),
         checksums.target);
}

}  // namespace attn
