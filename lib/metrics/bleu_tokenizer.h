// How BLEU cuts a sentence into tokens: sacreBLEU's tokenizers that need no model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metrics/ngrams.h"

namespace attn {

enum class BleuTokenizer {
  v13a,   ///< tokenize_13a.h
  intl,   ///< tokenize_unicode.h: every punctuation mark and symbol of Unicode stands alone
  zh,     ///< tokenize_unicode.h: Chinese characters stand alone, the rest as mteval cuts it
  chars,  ///< each character
  none,   ///< the text is tokenized already: words stand between spaces
};

/// "13a", "intl", "zh", "char", "none": sacreBLEU's own names.
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);

/// Nothing for an unknown name.
std::optional<BleuTokenizer> parse_bleu_tokenizer(std::string_view name);

/// The tokens of one sentence, spaces at its end left out first.
NgramUnits bleu_units(std::string_view sentence, BleuTokenizer tokenizer);

// The tokenizer of mteval-v13a, as sacreBLEU's 13a: what WMT's BLEU scores are counted on.

/// The line's tokens with one blank between them. ASCII punctuation stands alone, except
/// apostrophes, hyphens behind anything but a digit, and points and commas between digits; four
/// HTML entities are read as their characters.
std::string tokenize_13a(std::string_view line);

/// The second half of it, which other tokenizers share: ASCII punctuation stands alone, but for
/// what the text's neighbours keep together. No blank is put around the text first.
std::string separate_punctuation(std::string_view text);

// Tokenizers that look at Unicode's characters: mteval-v14's international one, and the one for
// Chinese that sacreBLEU took from WMT.

/// sacreBLEU's `intl`: punctuation stands alone unless numbers stand on both sides of it, symbols
/// always do. The categories are those of the ICU at hand: characters that Unicode named later are
/// none of both.
std::string tokenize_international(std::string_view line);

/// sacreBLEU's `zh`: characters of the Chinese blocks stand alone, full-width ones and Chinese
/// punctuation too, and the rest is cut as 13a does. Its table also takes U+2001 to U+2A6D and
/// U+2F81 to U+2FA1 (dashes, curly quotes, arrows, …) for Chinese, since it writes two ranges
/// beyond U+FFFF with four digits; scores are compared, so this table does so too.
std::string tokenize_chinese(std::string_view line);

}  // namespace attn
