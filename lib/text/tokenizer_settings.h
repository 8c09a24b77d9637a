// What transformers' tokenizers read beside their models: tokenizer_config.json and its older
// companion special_tokens_map.json.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

  /// The token of a key: as said (nothing: null), else `otherwise`.
  std::optional<std::string> named_or(const std::string& key, const char* otherwise) const;
};

/// Reads both files where they are present; InputError where one is no JSON object or a key that is
/// used has another type.
TokenizerSettings read_tokenizer_settings(const std::string& directory);

/// The same of the texts of the two files; nothing where there is none.
TokenizerSettings parse_tokenizer_settings(std::optional<std::string_view> text,
                                           std::optional<std::string_view> older,
                                           const std::string& directory);

}  // namespace attn
