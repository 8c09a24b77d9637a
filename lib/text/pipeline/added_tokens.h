// Tokens that stand in a text as they are, before any model cuts it: what add_tokens() of
// transformers adds, "<NAME>" and the like.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/sentencepiece/piece_trie.h"

namespace attn {

/// As files list them (added_tokens of tokenizer.json, added_tokens_decoder).
struct AddedToken {
  std::string text;
  int id = 0;
  bool single_word = false;  ///< not inside of a word
  bool lstrip = false;       ///< the white space before it is a part of it
  bool rstrip = false;       ///< and that behind it
  bool normalized = true;    ///< found in the normalised text
  bool special = false;      ///< left out of a decoded text
  /// Is no token where somebody types it: the marks that the model itself puts around a text.
  bool typed_as_text = false;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  struct Part {
    std::string_view text;
    std::optional<int> token;  ///< nothing: an ordinary part of the text
  };
  /// The parts of a valid UTF-8 text, one after another: of the tokens that begin first the
  /// longest, as the tokenizers library finds them. Without tokens the text is one part.
  std::vector<Part> split(std::string_view text) const;

  bool empty() const { return tokens_.empty(); }

 private:
  std::vector<AddedToken> tokens_;
  PieceTrie trie_;  ///< of their texts
};

/// InputError, beginning with `where`, unless the token is the piece `taken` (null: there is none
/// of its id), or the next one behind the `pieces` that there are.
void check_added_token(const AddedToken& token, std::size_t pieces, const std::string* taken,
                       const std::string& where);

}  // namespace attn
