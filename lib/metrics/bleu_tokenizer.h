// BLEU's tokenizers: those of sacreBLEU that need no model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "metrics/ngrams.h"

namespace attn {

enum class BleuTokenizer {
  v13a,   ///< tokenize_13a()
  intl,   ///< tokenize_international(): separates Unicode punctuation and symbols
  zh,     ///< tokenize_chinese(): separates Chinese characters, and treats the rest like mteval
  chars,  ///< each character
  none,   ///< the text is already tokenized: words are separated by spaces
};

/// Returns sacreBLEU's name of a tokenizer: "13a", "intl", "zh", "char" or "none".
std::string_view bleu_tokenizer_name(BleuTokenizer tokenizer);

/// Returns the tokenizer of a name, or nullopt for an unknown one.
std::optional<BleuTokenizer> parse_bleu_tokenizer(std::string_view name);

/// Tokenizes one sentence after removing trailing spaces.
NgramUnits bleu_units(std::string_view sentence, BleuTokenizer tokenizer);

// The tokenizer of mteval-v13a (sacreBLEU's 13a), with which WMT's BLEU scores are computed.

/// Returns the tokens of a line, separated by single spaces. ASCII punctuation becomes separate
/// tokens, except for apostrophes, hyphens that do not follow a digit, and dots and commas between
/// digits. Four HTML entities are replaced by their characters.
std::string tokenize_13a(std::string_view line);

/// Does the second half of tokenize_13a(), which other tokenizers share: separates ASCII
/// punctuation, with the same exceptions. Does not pad the text with spaces first.
std::string separate_punctuation(std::string_view text);

// Tokenizers based on Unicode characters: mteval-v14's international one, and the one for Chinese
// that sacreBLEU took from WMT.

/// Implements sacreBLEU's `intl`: separates punctuation unless it is between numbers, and always
/// separates symbols. The categories come from the installed ICU, which does not know characters of
/// later Unicode versions.
std::string tokenize_international(std::string_view line);

/// Implements sacreBLEU's `zh`: separates characters of the Chinese blocks, full-width characters
/// and Chinese punctuation, and tokenizes the rest like 13a. sacreBLEU's table writes two ranges
/// beyond U+FFFF with four digits, so it also includes U+2001 to U+2A6D and U+2F81 to U+2FA1
/// (dashes, curly quotes, arrows, …). This table does the same to keep scores comparable.
std::string tokenize_chinese(std::string_view line);

}  // namespace attn
