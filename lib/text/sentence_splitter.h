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
/// the sentence may go on: titles and connectors (Dr. med., e.g., z. B.), initials, ordinals (am 3.
/// Oktober), labels of numbers (No. 5, Sect. 2.1, Chap. IV, Fig. A1), an ellipsis, and a quoted
/// question or exclamation ("Stop!" he said). Words that can also end a sentence (U.S., p.m., etc.,
/// 20.) do so if the next word is a frequent sentence starter (The, He, Er; Kiss and Strunk 2006).
/// Which word is of which kind is decided in text/abbreviations.h, for English and German. There is
/// no boundary inside a word (U.S.A, page?id=5), and without a space only an ideographic full stop
/// ends a sentence. When in doubt two sentences stay together, because a cut inside a sentence does
/// more harm. A text without any capital letter is treated as if every word had one.
std::vector<SentenceSpan> split_sentences(std::string_view text);

}  // namespace attn
