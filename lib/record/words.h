// Words built from subword tokens.
//
// The rules:
//  - A token that begins with SentencePiece's character "▁" begins a word, and so do the first
//    token and a token after a special symbol; other tokens continue the previous word.
//  - "</s>", "<s>", "<pad>", "<mask>", a leading language token ">>de<<", the last token of the
//    record's source and the first one of its decoder input are special symbols: each is an entry
//    of its own and not a word.
//  - Tokens of punctuation only (Unicode's general category P) at either end of a word are split
//    off. All of one end together form a word of type punctuation; inside a word ("don't") they
//    belong to it. So "home", "." are two words, but both keep the index of the text's word "home."
//    (Word::text_index).
//  - Chinese, Japanese, Thai, Lao, Khmer and Burmese put no spaces between words. There a token
//    that begins at one of ICU's word boundaries begins a word, too. A token across a boundary is
//    not cut.
//  - "<unk>" is text and so belongs to a word. If counting each one as a separate word gives as
//    many words as the text has (whole-word vocabularies), it is a separate word; otherwise it
//    continues the previous word.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"
#include "record/head_report.h"

namespace attn {

/// True if a token, without its word-boundary character, consists of punctuation only.
bool is_punctuation(std::string_view piece);

/// Counts the words of a text, split at Unicode spaces like Python's str.split and, within words of
/// scripts without spaces, at ICU's word boundaries.
int count_text_words(std::string_view text);

/// Returns the word with an index as counted by count_text_words(); empty if there is none.
std::string text_word(std::string_view text, int index);

/// Removes punctuation at both ends of a word; a word of punctuation only stays unchanged.
std::string strip_punctuation(std::string_view word);

/// Groups all tokens into words, in order and without gaps. `text` is the text that the tokens
/// spell; `more_special` lists special symbols besides the usual ones.
std::vector<Word> split_words(const std::vector<std::string>& pieces, std::string_view text,
                              const std::vector<std::string>& more_special = {});

/// The words of both sides of a record's cross-attention.
struct RecordWords {
  std::vector<Word> source;
  std::vector<Word> target;  ///< of the produced tokens: row t of the map wrote token t
  /// True if both texts have as many words as were counted in their tokens, so that
  /// Word::text_index is right. False if a tokenizer inserts or removes spaces.
  bool fits_text = true;
};

/// Returns the words of the source and of one hypothesis; no words if there is no such hypothesis.
RecordWords words_in_record(const AttentionRecord& record, std::size_t hypothesis);

/// Returns one word per word of the text, in order: those that alignments link. Punctuation
/// attached to a word and special symbols are left out; punctuation that stands alone in the text
/// is kept.
std::vector<Word> text_words(const std::vector<Word>& words);

/// Moves the words one row on, to the steps that read them, in a map of `rows` rows. Tokens that no
/// step read, at the end of a truncated translation, are left out.
std::vector<Word> by_reading_step(const std::vector<Word>& words, int rows);

/// Returns the words without punctuation and special symbols.
std::vector<Word> content_words(const std::vector<Word>& words);

// Tokens as users name them: by index, or by the word that they begin.

/// The rows or columns of a map, as users can name them.
struct TokenAxis {
  std::string side;         ///< "source" or "translation"
  std::vector<Word> words;  ///< Word::first is the row or column that a word names: its first token
};

/// Returns the rows of a site's maps. A word of the translation names the step that writes it, as
/// in alignments. No words if the record has no such hypothesis.
TokenAxis query_axis(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

/// Returns the columns. In decoder self-attention a word names the column in which it is read.
TokenAxis key_axis(const AttentionRecord& record, AttentionSite site, std::size_t hypothesis);

/// True if `written` is an index and not a word: digits only.
bool is_index(std::string_view written);

/// Returns the written index, or the index of the only word with that text. The caller must check
/// the range of an index. Throws UsageError, beginning with `written`, if there is no such word
/// (the message lists the words) or there are several (it lists their indices).
int find_token(std::string_view written, const TokenAxis& axis);

}  // namespace attn
