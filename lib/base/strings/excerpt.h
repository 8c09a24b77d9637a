// What came in, quoted in a message, and messages with long names: for a person.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// A piece of a file or of an argument for a message: printable, and cut to so many columns,
/// because it may be as long as whoever wrote it wanted.
std::string excerpt(std::string_view piece, int columns = 60);

/// A valid UTF-8 message in which words of more than 300 bytes, and what is then still longer than
/// 4,000 bytes, lose their middle to "…".
std::string shorten_message(std::string_view message);

}  // namespace attn
