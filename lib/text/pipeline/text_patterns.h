// Patterns with which tokenizers replace and split text, and what a split does with the matches.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A range of bytes in a text.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// Returns all non-empty matches of a pattern in a valid UTF-8 text, from left to right.
using TextPattern = std::function<std::vector<TextSpan>(std::string_view)>;

/// Matches a fixed, non-empty text.
TextPattern literal_pattern(std::string text);
/// Matches whitespace, one character at a time.
TextPattern whitespace_pattern();
/// Returns the pattern of a regular expression that published tokenizers use, or nullopt for any
/// other. Supported are " {2,}", "\s+", "\n" and the one of byte_level_words.
std::optional<TextPattern> supported_regex(std::string_view expression);
std::string supported_regex_list();  ///< for messages

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Splits a text like NormalizedString::split of the tokenizers library, without empty parts. With
/// `invert`, the text between matches counts as matched.
std::vector<std::string_view> split_text(std::string_view text, const TextPattern& pattern,
                                         SplitBehavior behavior, bool invert = false);

/// Replaces every match by `to`.
std::string replace_matches(std::string_view text, const TextPattern& pattern, std::string_view to);

// Unicode character classes used by the regular expressions of tokenizers.

/// Return the length in bytes of the whitespace (White_Space) at the start or end of a valid UTF-8
/// text.
std::size_t leading_whitespace_bytes(std::string_view text);
std::size_t trailing_whitespace_bytes(std::string_view text);

/// Match \w: letters, marks, decimal digits, connector punctuation and joiners.
bool begins_with_word_character(std::string_view text);
bool ends_with_word_character(std::string_view text);

}  // namespace attn
