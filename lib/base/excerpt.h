// What came in, quoted in a message.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// A piece of a file or of an argument for a message: printable, and cut to 60 columns, because it
/// may be as long as whoever wrote it wanted.
std::string excerpt(std::string_view piece);

}  // namespace attn
