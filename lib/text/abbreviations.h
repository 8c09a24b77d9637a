// Abbreviations and other words before a full stop, in English and German: whether the sentence
// may end there.
#pragma once

#include <string_view>

namespace attn {

/// The meaning of a word before a full stop for the text after it.
enum class AbbreviationKind {
  none,        ///< an ordinary word
  joins_next,  ///< needs the next word: titles (Dr, Adm), places (Mt, Ft), connectors (e.g, incl)
  labels_number,  ///< needs a number if one follows, and also ends sentences: Fig, Sect, Nr, Abs
  may_end,        ///< occurs inside a sentence as well as at its end: etc, Inc, Jan, ed, Chr
};

/// Returns the kind of a word, given without its full stop ("Dr", "e.g"). The list has the words
/// that only a list can know. Other abbreviations are recognized by their shape: they have no
/// vowel (Bldg, Hptm, Pkt), or an ending that no whole word has (staatl, engl, betr). These
/// `may_end` a sentence.
AbbreviationKind abbreviation_kind(std::string_view word);

/// True if a label is also an ordinary word ("No. I do not.", "This is modern art. A book …"), so
/// that "I" and "A" after it are no numbers.
bool is_ordinary_word(std::string_view label);

/// True for a Roman numeral: II, XIV, MCM, iv.
bool is_roman_numeral(std::string_view word);

/// True if a lower-case word often begins sentences and is seldom a name: he, the, this, er, das.
/// Excludes "I", which is capitalized everywhere.
bool is_sentence_starter(std::string_view word);

}  // namespace attn
