// What stands on the axes of a map: tokens as a person reads them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// One printable label a token. SentencePiece's word mark is left out ("▁The" becomes "The"), and
/// instead a piece that goes on with the word before it is marked ("▁Haus", "tür" become "Haus",
/// "‿tür"). Special symbols ("</s>", ">>de<<") stay as they are; an empty or blank token is quoted.
std::vector<std::string> token_labels(const std::vector<std::string>& tokens);

/// Whether the label is of a piece that goes on with the word before it.
bool continues_word(std::string_view label);

}  // namespace attn
