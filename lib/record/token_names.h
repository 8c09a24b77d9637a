// Tokens as a person names them: by index, or by the word that they begin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/attention_site.h"
#include "record/attention_record.h"

namespace attn {

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
