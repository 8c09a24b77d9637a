// The patterns by which tokenizers replace and split, and what a split does with what it finds.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// A place of a text, in bytes.
struct TextSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// All places of a valid UTF-8 text that a pattern matches, from left to right, none of them empty.
using TextPattern = std::function<std::vector<TextSpan>(std::string_view)>;

/// The text itself, which is not empty.
TextPattern literal_pattern(std::string text);
/// White space, a character at a time.
TextPattern whitespace_pattern();
/// A regular expression: one of those that published tokenizers have; nothing for others. They are
/// " {2,}", "\s+", "\n" and byte_level_words' own.
std::optional<TextPattern> supported_regex(std::string_view expression);
std::string supported_regex_list();  ///< for a message

enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// The parts of a text as NormalizedString::split of the tokenizers library makes them; empty ones
/// are left out. `invert`: what the pattern does not match counts as matched.
std::vector<std::string_view> split_text(std::string_view text, const TextPattern& pattern,
                                         SplitBehavior behavior, bool invert = false);

/// The text with `to` for each match.
std::string replace_matches(std::string_view text, const TextPattern& pattern, std::string_view to);

// What Unicode says of characters, as the regular expressions of tokenizers ask for it.

/// Bytes of white space (White_Space) that a valid UTF-8 text begins or ends with.
std::size_t leading_whitespace_bytes(std::string_view text);
std::size_t trailing_whitespace_bytes(std::string_view text);

/// \w: letters, marks, decimal digits, connecting signs and joiners.
bool begins_with_word_character(std::string_view text);
bool ends_with_word_character(std::string_view text);

}  // namespace attn
