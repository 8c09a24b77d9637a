// The tokenizer of mteval-v13a, as sacreBLEU's 13a: what WMT's BLEU scores are counted on.
#pragma once

#include <string>
#include <string_view>

namespace attn {

/// The line's tokens with one blank between them. ASCII punctuation stands alone, except
/// apostrophes, hyphens behind anything but a digit, and points and commas between digits; four
/// HTML entities are read as their characters.
std::string tokenize_13a(std::string_view line);

/// The second half of it, which other tokenizers share: ASCII punctuation stands alone, but for
/// what the text's neighbours keep together. No blank is put around the text first.
std::string separate_punctuation(std::string_view text);

}  // namespace attn
