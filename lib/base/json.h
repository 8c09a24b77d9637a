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

}  // namespace attn
