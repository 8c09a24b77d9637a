// The settings that transformers' tokenizers read besides their models: tokenizer_config.json and
// the older files special_tokens_map.json and added_tokens.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/pipeline/added_tokens.h"

namespace attn {

/// The settings of a tokenizer; the defaults are MarianTokenizer's.
struct TokenizerSettings {
  std::string eos_token = "</s>";
  std::string unk_token = "<unk>";
  std::string pad_token = "<pad>";
  std::vector<std::string> more_special_tokens;  ///< further tokens that decoding leaves out
  /// All "…_token" keys and "mask_token_sent", by key; nullopt if the value is null.
  std::map<std::string, std::optional<std::string>> named;
  bool separate_vocabularies = false;
  bool clean_up_spaces = false;   ///< "word ." becomes "word." and so on
  bool add_prefix_space = false;  ///< byte-level BPE: a space is put before the text
  std::optional<int> offset;      ///< Pegasus: number of pretraining tokens before the others
  /// From added_tokens_decoder, otherwise from added_tokens.json, in order of their ids.
  std::vector<AddedToken> added_tokens;
  std::string source_language;  ///< src_lang, if set: "eng_Latn"
  std::string target_language;
  std::string tokenizer_class;    ///< "NllbTokenizer"
  std::string language_codes;     ///< the name of M2M100's list: "m2m100" or "wmt21"
  bool legacy_behaviour = false;  ///< NLLB's: the language follows the text
  std::optional<int> extra_ids;   ///< T5: number of sentinels after the tokens

  /// Returns the token of a key (nullopt if it is null), or `otherwise` if the key is missing.
  std::optional<std::string> token_or(const std::string& key, const char* otherwise) const;
  /// True if the model itself puts this token around or into texts: eos_token, pad_token,
  /// mask_token and so on. If a user types it, it is ordinary text.
  bool is_model_special_token(const std::string& token) const;
};

/// Reads the files that exist. Throws InputError if one is not a JSON object or a used key has the
/// wrong type.
TokenizerSettings read_tokenizer_settings(const std::string& directory);

/// The contents of the files; nullopt for a missing file.
struct TokenizerSettingsFiles {
  std::optional<std::string> settings;      ///< tokenizer_config.json
  std::optional<std::string> older;         ///< special_tokens_map.json
  std::optional<std::string> added_tokens;  ///< added_tokens.json
};
TokenizerSettings parse_tokenizer_settings(const TokenizerSettingsFiles& texts,
                                           const std::string& directory);

/// Reads one entry of a token list, {"content": "<NAME>", "lstrip": false, …}, whose id comes from
/// its key. Throws InputError, beginning with `where`, for a wrong type or a negative id.
AddedToken read_added_token(const Json& value, const Json& id, const std::string& where);

}  // namespace attn
