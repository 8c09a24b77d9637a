// Strict, bounded JSON on top of nlohmann/json: the library alone accepts a byte-order mark and
// duplicate keys, and follows nesting as deep as it goes.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace attn {

/// Keys keep the order of the file, so that messages and written files do, too.
/// An object is a vector of members: a look-up by key is a linear search, so go through large ones
/// (a vocabulary) with items().
using Json = nlohmann::ordered_json;

struct JsonLimits {
  std::size_t max_depth = 32;  ///< open arrays and objects inside one another
  std::size_t max_bytes = std::size_t{256} << 20;
  std::size_t max_values = std::size_t{1} << 24;  ///< bounds the memory of a hostile text
};

/// Parses one JSON text. Refuses with InputError "WHERE:LINE:COLUMN: found …, expected …": anything
/// that is not JSON by RFC 8259, a byte-order mark, invalid UTF-8, a key that occurs twice in one
/// object, numbers that overflow, whatever exceeds a limit, and text after the value. An integer
/// beyond 64 bits is read as the nearest double (tokenizer_config.json holds such).
Json parse_json(std::string_view text, const std::string& where, JsonLimits limits = {});

/// Reads and parses a file; SystemError where it cannot be read.
Json read_json_file(const std::string& path, JsonLimits limits = {});

// What went wrong in a JSON text, in plain words: nlohmann's messages name its own token classes.

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
