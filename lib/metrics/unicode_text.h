// What Python does to a text before sacreBLEU counts anything: split() and strip().
// Sources: lowercase.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Bytes of the space that `text` begins with, 0 where it begins with none. Spaces are those of
/// Python's str.split(): more than ASCII's (U+00A0, U+3000, …), and U+001C to U+001F.
std::size_t space_length(std::string_view text);

/// `text` without the spaces at its end, as str.rstrip().
std::string_view strip_right(std::string_view text);

/// `text` without the spaces at both ends, as str.strip().
std::string_view strip_spaces(std::string_view text);

/// str.split(): what stands between spaces, without empty strings. The views point into `text`.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// The words between spaces with one blank between them: ' '.join(text.split()).
std::string normalize_spaces(std::string_view text);

// What Python's lower() does to a text before sacreBLEU counts anything.

/// str.lower(): Unicode's full mapping in no language (İ becomes two characters, Σ at a word's end
/// becomes ς). Invalid bytes stay as they are.
std::string lowercase(std::string_view text);

}  // namespace attn
