// How BLEU cuts a sentence into tokens: sacreBLEU's tokenizers that need no model.
#pragma once

#include <optional>
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

}  // namespace attn
