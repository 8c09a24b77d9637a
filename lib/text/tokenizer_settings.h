// The small files beside a tokenizer: tokenizer_config.json (with its older companion
// special_tokens_map.json) and SHA256SUMS.
#pragma once

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

/// Where `directory` holds SHA256SUMS: InputError unless the contents of source.spm and target.spm
/// have the digests listed for them; a name that is not listed is not checked.
void verify_checksums(const std::string& directory, std::string_view source_spm,
                      std::string_view target_spm);

}  // namespace attn
