// Words that stand for placeholders while a sentence is translated.
//
// A sentence without its placeholders is often ungrammatical ("I live in."), and its translation
// guesses. Most models copy a word such as X1, so they see a sentence and say where the placeholder
// goes. If a translation lacks such a word, the sentence is translated without its placeholders.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "markup/marked_text.h"

namespace attn {

struct StandIns {
  MarkedSegment segment;  ///< `text` has the words, and no item is a placeholder
  std::vector<std::pair<std::string, std::string>> words;  ///< each word and what it stands for
};

/// Replaces the placeholders of a segment with words that occur nowhere in it. Adjacent
/// placeholders share a word. Returns nothing for a segment without placeholders or with more than
/// 30, and if a placeholder is part of a word ("{n}px").
std::optional<StandIns> with_stand_ins(const MarkedSegment& segment);

/// True if every word is in the translation once, as a word of its own or with the ending "s".
bool keeps_stand_ins(const StandIns& stand_ins, std::string_view translation);

/// Replaces the words with what they stand for, in a text for which keeps_stand_ins() was true of
/// its translation.
std::string restore_placeholders(const StandIns& stand_ins, std::string text);

}  // namespace attn
