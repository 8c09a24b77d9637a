// Sentence splitting, to cut lines that are too long for a model.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

/// One sentence of a text as bytes [begin, end), without spaces at either end.
struct SentenceSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  /// True if the sentence begins inside quotation marks or parentheses that an earlier sentence
  /// opened: in “I came. I saw.” this holds for the second sentence.
  bool inside_brackets = false;
};

/// Splits a clean text (base/strings/utf8.h) into sentences, in order, with only spaces or nothing
/// between them. A text of spaces has no sentences.
///
/// Uses ICU's sentence boundaries (Unicode Standard Annex 29, section 5) without those after which
/// the sentence may go on: titles and abbreviations (Dr., e.g., z. B.), initials, ordinals (am 3.
/// Oktober), labels of numbers (No. 5), an ellipsis, and a quoted question or exclamation ("Stop!"
/// he said). Words that can also end a sentence (U.S., p.m., etc., 20.) do so if the next word is a
/// frequent sentence starter (The, He, Er; Kiss and Strunk 2006). The lists are English and German;
/// after other abbreviations the text is split. There is no boundary inside a word (U.S.A,
/// page?id=5), and without a space only an ideographic full stop ends a sentence. When in doubt two
/// sentences stay together, because a cut inside a sentence does more harm. A text without any
/// capital letter is treated as if every word had one.
std::vector<SentenceSpan> split_sentences(std::string_view text);

// Words that may be followed by a full stop without ending a sentence, in English and German.

// Words are given without their full stop: "Dr", "e.g", "usw". The lists also match "dr", but not
// "sun" or "co", which are ordinary words.

/// True for a title or a connector that needs a following word: Dr, Mrs, e.g, d.h, vgl.
bool is_never_sentence_end(std::string_view word);

/// True for an abbreviation that labels a following number: No, Nr, p, Fig, Abs.
bool precedes_number(std::string_view word);

/// True for an abbreviation that occurs at the end of sentences as well as inside: etc, Inc, Jr,
/// Jan, usw, St.
bool may_end_sentence(std::string_view word);

/// True if a lower-case word often begins sentences and is seldom a name: he, the, this, er, das.
/// Excludes "I", which is capitalized everywhere.
bool is_sentence_starter(std::string_view word);

}  // namespace attn
