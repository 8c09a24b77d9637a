// What Unicode says of characters, as the regular expressions of tokenizers ask for it.
#pragma once

#include <cstddef>
#include <string_view>

namespace attn {

/// Bytes of white space (White_Space) that a valid UTF-8 text begins or ends with.
std::size_t leading_whitespace_bytes(std::string_view text);
std::size_t trailing_whitespace_bytes(std::string_view text);

/// \w: letters, marks, decimal digits, connecting signs and joiners.
bool begins_with_word_character(std::string_view text);
bool ends_with_word_character(std::string_view text);

}  // namespace attn
