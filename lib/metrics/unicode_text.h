// Python's split(), strip() and lower(), which sacreBLEU applies before counting.
// Sources: lowercase.cpp.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// Returns the number of bytes of the space at the start of `text`, or 0. Spaces are those of
/// Python's str.split(): more than ASCII's (U+00A0, U+3000, …), and U+001C to U+001F.
std::size_t space_length(std::string_view text);

/// Removes trailing spaces, like str.rstrip().
std::string_view strip_right(std::string_view text);

/// Removes spaces at both ends, like str.strip().
std::string_view strip_spaces(std::string_view text);

/// Splits a text at spaces without empty strings, like str.split(). The views point into `text`.
std::vector<std::string_view> split_at_spaces(std::string_view text);

/// Separates the words by single spaces, like ' '.join(text.split()).
std::string normalize_spaces(std::string_view text);

/// Lower-cases a text like str.lower(): Unicode's full mapping without language rules (İ becomes
/// two characters, Σ at the end of a word becomes ς). Invalid bytes stay the same.
std::string lowercase(std::string_view text);

}  // namespace attn
