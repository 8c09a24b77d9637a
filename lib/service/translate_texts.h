// Translates whole texts: line by line, with their layout, placeholders and markup (lib/markup).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analysis/alignment.h"
#include "markup/marked_text.h"
#include "service/option_values.h"
#include "service/translate_lines.h"

namespace attn {

struct TextSettings {
  LineSettings lines = {};
  bool html = false;          ///< the texts are HTML
  SpanFinder keep = nullptr;  ///< further text that is not translated
  /// The alignment that puts markup back into translations.
  AlignmentMethod alignment = {};
};

/// Returns the settings that the options request. Throws UsageError if `keep` is not a regular
/// expression.
TextSettings text_settings(const SearchOptions& given, const LineSettings& lines);

struct TextHooks {
  /// Receives each line with the index of its text, before it is searched. A text has at least one.
  std::function<void(std::size_t text, const PreparedLine&)> prepared = nullptr;
  /// Like LineHooks::searched. The counts begin again for lines with markup.
  std::function<void(const TranslationProgress&)> searched = nullptr;
};

struct TranslatedText {
  std::vector<LineTranslation> translations;  ///< best first
  MarkupCounts markup;                        ///< markup that was taken out and put back
};

/// Translates each text like translate_lines() translates its lines. Line breaks, empty lines, and
/// whitespace around lines are kept. Placeholders and Markdown, or HTML's tags, are taken out and
/// put back by the word alignment; lines that have no other text are copied. A text of one line
/// without any of this is translated as by translate_lines(). Translations are valid UTF-8, and
/// their only control characters are tabs and line ends of the text.
std::vector<TranslatedText> translate_texts(const Translator& translator,
                                            const TranslationSettings& settings,
                                            const std::vector<std::string>& texts,
                                            const TextSettings& text_settings,
                                            const TextHooks& hooks = {});

/// Returns the note about markup; empty if there was none.
std::string markup_note(const MarkupCounts& counts);

}  // namespace attn
