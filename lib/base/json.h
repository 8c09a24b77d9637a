// Strict JSON parsing with limits, on top of nlohmann/json. On its own, that library accepts a
// byte-order mark and duplicate keys, and follows nesting to any depth.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace attn {

/// A JSON value. Keys keep the order of the file, so messages and written files do too.
/// An object is a vector of members, so looking up a key is a linear search: iterate over large
/// objects (a vocabulary) with items().
using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t max_depth = 32;  ///< nested open arrays and objects
  std::size_t max_bytes = std::size_t{256} << 20;
  std::size_t max_values = std::size_t{1}
                           << 24;  ///< bounds the memory that a hostile text can take
};

/// Parses one JSON text. Throws InputError "WHERE:LINE:COLUMN: found …, expected …" for anything
/// that is not JSON by RFC 8259, a byte-order mark, invalid UTF-8, a key that occurs twice in one
/// object, a number that overflows, a limit that is exceeded, or text after the value. An integer
/// beyond 64 bits is read as the nearest double (tokenizer_config.json contains such numbers).
Json parse_json(std::string_view text, const std::string& where, JsonLimits limits = {});

/// Reads and parses a file. Throws SystemError if it cannot be read.
Json read_json_file(const std::string& path, JsonLimits limits = {});

// Readable messages for JSON syntax errors: nlohmann's own messages name its token classes.

struct TextPosition {
  std::size_t line = 1;    ///< from 1
  std::size_t column = 1;  ///< from 1, in characters (code points)
};

/// Returns the line and column of byte `offset`, clamped to the end of the text.
TextPosition text_position(std::string_view text, std::size_t offset);

struct JsonProblem {
  std::size_t offset = 0;  ///< the byte of the text that the message is about
  std::string message;     ///< "found …, expected …; what to try"
};

/// Translates nlohmann's parse error. `read` is the number of bytes that the lexer has consumed
/// (the end of the text counts as one more), `token` is the last token, and `what` is the
/// exception's text.
JsonProblem describe_json_error(std::string_view text, std::size_t read, std::string_view token,
                                std::string_view what);

}  // namespace attn
