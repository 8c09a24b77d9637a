// Tokens that are found in a text as they are, before the subword model runs: those that
// add_tokens() of transformers adds, such as "<NAME>".
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/piece_trie.h"

namespace attn {

/// An added token as listed in files (added_tokens of tokenizer.json, added_tokens_decoder).
struct AddedToken {
  std::string text;
  int id = 0;
  bool single_word = false;  ///< matches only whole words
  bool lstrip = false;       ///< includes the whitespace before it
  bool rstrip = false;       ///< includes the whitespace after it
  bool normalized = true;    ///< searched for in the normalized text
  bool special = false;      ///< left out of decoded text
  /// Not a token if a user types it; for the special tokens that the model puts around a text.
  bool typed_as_text = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Part {
    std::string_view text;
    std::optional<int> token;  ///< nullopt for ordinary text
  };
  /// Splits a valid UTF-8 text into consecutive parts. Among the tokens that begin first, the
  /// longest wins, as in the tokenizers library. Without any token the text is one part.
  std::vector<Part> split(std::string_view text) const;

  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<AddedToken> tokens_;
  PieceTrie trie_;  ///< of the tokens' texts
};

/// Throws InputError, beginning with `where`, unless the token equals the token `taken` that has
/// its id (null if there is none), or follows the last of the `pieces` existing tokens.
void check_added_token(const AddedToken& token, std::size_t pieces, const std::string* taken,
                       const std::string& where);

}  // namespace attn
