// What went wrong in a JSON text, in plain words: nlohmann's messages name its own token classes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace attn {

struct TextPosition {
  std::size_t line = 1;    ///< from 1
  std::size_t column = 1;  ///< from 1, in characters (code points)
};

/// The position of byte `offset`, clamped to the text's end.
TextPosition text_position(std::string_view text, std::size_t offset);

struct JsonProblem {
  std::size_t offset = 0;  ///< byte of the text that the message is about
  std::string message;     ///< "found …, expected …; what to try"
};

/// Translates nlohmann's parse error. `read` is the number of bytes the lexer had consumed (its end
/// of the text counts as one more), `token` the last token and `what` the exception's text.
JsonProblem describe_json_error(std::string_view text, std::size_t read, std::string_view token,
                               std::string_view what);

}  // namespace attn
