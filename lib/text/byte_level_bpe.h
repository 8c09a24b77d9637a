// The two ideas of GPT-2's byte-level BPE (Radford et al. 2019) besides BPE itself: a text is cut
// into words before any merge, and every byte of a word is written as a printable character.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace attn {

/// The words of a valid UTF-8 text, one after another without gaps. As the pattern
///   's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
/// finds them: contractions, letters, numbers and signs each with one blank before them, and runs
/// of white space without the character that precedes a word.
std::vector<std::string_view> byte_level_words(std::string_view text);

/// The character that stands for a byte: itself where it is printable and no blank (! to ~, ¡ to ¬,
/// ® to ÿ), else one from U+0100 on in the bytes' order: "Ġ" is the blank.
char32_t byte_to_unicode(unsigned char byte);

/// The bytes that a piece stands for; nothing where one of its characters stands for none.
std::optional<std::string> bytes_of_token(std::string_view piece);

/// A piece for people: "ĠThe" is "▁The", "Ã¤" is "ä"; bytes that make no character or a control
/// character are "<0xC3>".
std::string readable_token(std::string_view piece);

}  // namespace attn
