// Words out of subword pieces.
//
// The rule:
//  - A piece that begins with SentencePiece's mark "▁" begins a word, and so does the first piece
//    and one after a special symbol; other pieces go on with the word before them.
//  - "</s>", "<s>", "<pad>", "<mask>", a language mark ">>de<<" at the beginning, and whatever the
//    record's source ends in or its decoder starts from, are special symbols: each stands alone and
//    is not a word.
//  - Pieces of nothing but punctuation (Unicode's general category P) at either end of a word are
//    taken off it and make a word of kind punctuation, all of one end together; inside a word
//    ("don't") they belong to it. So "home", "." are two words, but both keep the number of the
//    text's word "home." (Word::text_index).
//  - "<unk>" stands for text and so belongs to a word. Where counting it as a word of its own gives
//    as many words as the text has (whole-word vocabularies), it is one; else it goes on with the
//    word before.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/head_report.h"

namespace attn {

/// Whether a piece, without its mark of a word's beginning, is punctuation and nothing else.
bool is_punctuation(std::string_view piece);

/// How many words a text has, split at Unicode's blanks as Python's str.split does.
int count_text_words(std::string_view text);

/// The text's word of that number, as count_text_words() counts; empty where there is none.
std::string text_word(std::string_view text, int index);

/// A word without punctuation at its ends; one of nothing else stays as it is.
std::string strip_punctuation(std::string_view word);

/// The words of `pieces`, in order and without gaps: every piece is in one word. `text` is what the
/// pieces spell; `more_special` are symbols to be known besides the usual ones.
std::vector<Word> split_words(const std::vector<std::string>& pieces, std::string_view text,
                              const std::vector<std::string>& more_special = {});

/// The words of both sides of a record's cross-attention.
struct RecordWords {
  std::vector<Word> source;
  std::vector<Word> target;  ///< of the produced tokens: row t of the map wrote token t
  /// Both texts have as many words as were counted in their pieces, so that Word::text_index is
  /// right. Not so where a tokenizer writes blanks into words or takes them away.
  bool fits_text = true;
};

/// Words of the source and of one hypothesis; no words where there is no such hypothesis.
RecordWords words_in_record(const AttentionRecord& record, std::size_t hypothesis);

/// One word for each word of the text, in order: those that alignments link. Punctuation that is
/// glued to a word is left out; punctuation that stands alone in the text stays. Special symbols
/// are left out.
std::vector<Word> text_words(const std::vector<Word>& words);

/// The same words, but by the steps that read them: one row on. In a map of `rows` rows; pieces
/// that no step read, at the end of a translation that was cut short, are left out.
std::vector<Word> by_reading_step(const std::vector<Word>& words, int rows);

/// The words proper: without punctuation and special symbols.
std::vector<Word> content_words(const std::vector<Word>& words);

// Tokens as a person names them: by index, or by the word that they begin.

/// The rows or the columns of a map, as they can be named.
struct TokenAxis {
  std::string side;         ///< "source" or "translation"
  std::vector<Word> words;  ///< Word::first is the row or column that a word names: its first piece
};

/// The rows of a kind's maps. A word of the translation names the step that writes it, as in
/// alignments (record/words.h). No words where the record has no such hypothesis.
TokenAxis query_axis(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

/// The columns. In decoder self-attention a word names the column in which it is read.
TokenAxis key_axis(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

/// Whether `written` is an index and not a word: digits alone.
bool is_index(std::string_view written);

/// The index that is written, or that of the only word that reads so. Whether there is such an
/// index is the caller's to say. UsageError begun by `written`: no such word (with those there
/// are), or several (with their indices).
int find_token(std::string_view written, const TokenAxis& axis);

}  // namespace attn
