// What transformers' tokenizers read beside their models: tokenizer_config.json and its older
// companions special_tokens_map.json and added_tokens.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/pipeline/added_tokens.h"

namespace attn {

/// What a tokenizer takes from tokenizer_config.json; the defaults are MarianTokenizer's.
struct TokenizerSettings {
  std::string eos_token = "</s>";
  std::string unk_token = "<unk>";
  std::string pad_token = "<pad>";
  std::vector<std::string> more_special_tokens;  ///< others that a decoded text leaves out
  /// All of "…_token" and of "mask_token_sent" by key; nothing: said to be null.
  std::map<std::string, std::optional<std::string>> named;
  bool separate_vocabularies = false;
  bool clean_up_spaces = false;   ///< "word ." becomes "word.", and so on
  bool add_prefix_space = false;  ///< byte-level BPE: a text begins with a blank
  std::optional<int> offset;      ///< Pegasus: its pieces for pretraining, before the others
  /// Of added_tokens_decoder, else of added_tokens.json, in order of their ids.
  std::vector<AddedToken> added_tokens;
  std::string source_language;  ///< src_lang, where it says one: "eng_Latn"
  std::string target_language;
  std::string tokenizer_class;    ///< "NllbTokenizer"
  std::string language_codes;     ///< M2M100's list: "m2m100", "wmt21"
  bool legacy_behaviour = false;  ///< NLLB's: the language stands behind a text
  std::optional<int> extra_ids;   ///< T5: sentinels behind its pieces

  /// The token of a key: as said (nothing: null), else `otherwise`.
  std::optional<std::string> token_or(const std::string& key, const char* otherwise) const;
  /// Whether a token is one that the model itself puts around texts or into them: eos_token,
  /// pad_token, mask_token and so on. Typed, it is ordinary text.
  bool is_model_special_token(const std::string& token) const;
};

/// Reads the files where they are present; InputError where one is no JSON object or a key that is
/// used has another type.
TokenizerSettings read_tokenizer_settings(const std::string& directory);

/// The texts of the files; nothing where there is none.
struct TokenizerSettingsFiles {
  std::optional<std::string> settings;      ///< tokenizer_config.json
  std::optional<std::string> older;         ///< special_tokens_map.json
  std::optional<std::string> added_tokens;  ///< added_tokens.json
};
TokenizerSettings parse_tokenizer_settings(const TokenizerSettingsFiles& texts,
                                           const std::string& directory);

/// A token of a list of them, {"content": "<NAME>", "lstrip": false, …}, with the id that its place
/// says; InputError, beginning with `where`, for another type or an id below 0.
AddedToken read_added_token(const Json& value, const Json& id, const std::string& where);

}  // namespace attn
