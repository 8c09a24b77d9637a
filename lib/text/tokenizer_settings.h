// What MarianTokenizer reads beside the SentencePiece models: tokenizer_config.json and its older
// companion special_tokens_map.json.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// What MarianTokenizer takes from tokenizer_config.json; the defaults are its own.
struct TokenizerSettings {
  std::string eos_token = "</s>";
  std::string unk_token = "<unk>";
  std::string pad_token = "<pad>";
  std::vector<std::string> more_special_tokens;  ///< others that a decoded text leaves out
  bool separate_vocabularies = false;
  bool clean_up_spaces = false;  ///< "word ." becomes "word.", and so on
};

/// Reads both files where they are present; InputError where one is no JSON object or a key that is
/// used has another type.
TokenizerSettings read_tokenizer_settings(const std::string& directory);

/// The same of the texts of the two files; nothing where there is none.
TokenizerSettings parse_tokenizer_settings(std::optional<std::string_view> text,
                                           std::optional<std::string_view> older,
                                           const std::string& directory);

}  // namespace attn
