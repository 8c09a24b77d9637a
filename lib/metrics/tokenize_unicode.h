// Tokenizers that look at Unicode's characters: mteval-v14's international one, and the one for
// Chinese that sacreBLEU took from WMT.
#pragma once

#include <string>
#include <string_view>

namespace attn {

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
