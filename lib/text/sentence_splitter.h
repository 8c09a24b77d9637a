// A text's sentences: where a line that is too long for a model may be cut.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace attn {

/// One sentence of a text, as bytes [begin, end): no blanks at either side.
struct SentenceSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  /// It begins inside quotation marks or parentheses that are open since an earlier sentence:
  /// “I came. I saw.” are two of which the second one does.
  bool inside_brackets = false;
};

/// The sentences of a clean text (base/strings/utf8.h), in order; what lies between them is blanks
/// or nothing. A text without anything but blanks has none.
///
/// ICU's sentence boundaries (Unicode Standard Annex 29, section 5), less those after which the
/// sentence may go on: after titles and abbreviations (Dr., e.g., z. B.), initials, ordinals
/// (am 3. Oktober), numbers' names (No. 5), an ellipsis, and a quoted question or exclamation
/// ("Stop!" he said). What can also end a sentence (U.S., p.m., etc., 20.) ends it where the next
/// word begins sentences (The, He, Er; Kiss and Strunk 2006 call them frequent sentence starters).
/// The lists are English and German; what they miss is cut. Nothing is cut inside a word (U.S.A,
/// page?id=5), and where no blank follows, only after an ideographic full stop. In doubt two
/// sentences stay together: a cut inside a sentence does more harm. A text without any capital is
/// read as if each word had one.
std::vector<SentenceSpan> split_sentences(std::string_view text);

// Words that a full stop may follow without ending a sentence, in English and German.

// Words are without their full stop: "Dr", "e.g", "usw". "dr" counts, too, but not "sun" or "co",
// which are words.

/// A title or a link to what follows: Dr, Mrs, e.g, d.h, vgl.
bool is_never_sentence_end(std::string_view word);

/// The name of a number, where one follows: No, Nr, p, Fig, Abs.
bool precedes_number(std::string_view word);

/// It stands at the end of sentences as well as in them: etc, Inc, Jr, Jan, usw, St.
bool may_end_sentence(std::string_view word);

/// Whether a word, in small letters, is one that sentences often begin with and that is seldom a
/// name: he, the, this, er, das. "I" is none: it has its capital everywhere.
bool is_sentence_starter(std::string_view word);

}  // namespace attn
