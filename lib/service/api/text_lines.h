// Prepares a text of several lines for the page, which shows one part at a time.
#pragma once

#include <string_view>

#include "translate/line_parts.h"

namespace attn {

/// Like prepare_line(), but each line of the text is a part of its own, or several. The gaps
/// between lines are the text's line breaks and indentation; the first gap is what precedes the
/// first line.
PreparedLine prepare_text(const Translator& translator, const TranslationSettings& settings,
                          std::string_view bytes, Splitting splitting);

}  // namespace attn
