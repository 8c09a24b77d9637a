#include "record/words.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <array>
#include <charconv>

#include "base/at.h"
#include "base/error.h"
#include "base/strings/text_boundaries.h"
#include "base/strings/utf8.h"
#include "config/attention_site.h"

namespace attn {
namespace {

constexpr std::string_view word_mark = "▁";
constexpr std::string_view unknown = "<unk>";

std::string_view without_space_symbol(std::string_view piece) {
  if (piece.starts_with(word_mark)) piece.remove_prefix(word_mark.size());
  return piece;
}

/// Returns the text of a token: without the word-boundary character, and the byte that a token of
/// byte fallback, "<0xE6>", stands for.
std::string text_of(std::string_view piece) {
  constexpr std::string_view shape = "<0x00>";
  if (piece.size() == shape.size() && piece.starts_with("<0x") && piece.ends_with('>')) {
    unsigned byte = 0;
    const char* end = piece.data() + shape.size() - 1;
    if (std::from_chars(piece.data() + 3, end, byte, 16).ptr == end) {
      return std::string(1, static_cast<char>(byte));
    }
  }
  return std::string(without_space_symbol(piece));
}

bool is_language_tag(std::string_view piece) {
  return piece.size() > 4 && piece.starts_with(">>") && piece.ends_with("<<");
}

/// True if a language token is a word of the text, as in ">>de<< The" but not in ">>de<<The".
bool tag_is_text_word(std::string_view mark, std::string_view text) {
  if (!text.starts_with(mark)) return false;
  text.remove_prefix(mark.size());
  return text.empty() || u_isUWhiteSpace(static_cast<UChar32>(decode_code_point(text).value));
}

/// Splits one sequence of tokens into words.
class WordSplitter {
 public:
  WordSplitter(const std::vector<std::string>& pieces, std::string_view text,
               const std::vector<std::string>& more_special)
      : pieces_(pieces), text_(text), more_special_(more_special) {}

  std::vector<Word> split() {
    const std::vector<Word> chunks = cut_unspaced(cut(true));
    const auto unknown_piece = [](const std::string& piece) { return piece == unknown; };
    if (std::any_of(pieces_.begin(), pieces_.end(), unknown_piece) &&
        next_index_ != count_text_words(text_)) {
      return refine(cut_unspaced(cut(false)));
    }
    return refine(chunks);
  }

 private:
  bool is_special(std::size_t at) const {
    static constexpr std::array<std::string_view, 4> usual = {"</s>", "<s>", "<pad>", "<mask>"};
    const std::string& piece = pieces_[at];
    return std::find(usual.begin(), usual.end(), piece) != usual.end() ||
           std::find(more_special_.begin(), more_special_.end(), piece) != more_special_.end() ||
           (at == 0 && is_language_tag(piece));
  }

  /// Returns the text's words and the special symbols between them.
  std::vector<Word> cut(bool unknown_begins_word) {
    std::vector<Word> chunks;
    next_index_ = 0;
    bool inside = false;  // a word that may continue
    for (std::size_t at = 0; at < pieces_.size(); ++at) {
      const std::string& piece = pieces_[at];
      if (is_special(at)) {
        const bool counts = is_language_tag(piece) && tag_is_text_word(piece, text_);
        chunks.push_back({{}, to_int(at), 1, WordType::special, counts ? next_index_++ : -1});
        inside = false;
        continue;
      }
      const bool lone_mark = at > 0 && pieces_[at - 1] == word_mark;
      const bool begins = !inside || piece.starts_with(word_mark) ||
                          (unknown_begins_word && piece == unknown && !lone_mark);
      if (begins) {
        chunks.push_back({{}, to_int(at), 0, WordType::word, next_index_++});
      }
      ++chunks.back().count;
      inside = true;
    }
    return chunks;
  }

  /// Cuts chunks of scripts that put no spaces between words at ICU's word boundaries, as far as
  /// tokens begin there. A word's index counts the boundaries before it.
  std::vector<Word> cut_unspaced(const std::vector<Word>& chunks) {
    std::vector<Word> words;
    int more = 0;  // words so far beyond those between spaces
    for (Word chunk : chunks) {
      if (chunk.text_index >= 0) chunk.text_index += more;
      const std::string text = chunk.type == WordType::word ? spelled(chunk).text : "";
      if (!is_valid_utf8(text) || !has_unspaced_script(text)) {
        words.push_back(chunk);
        continue;
      }
      const std::vector<std::size_t> ends = text_boundaries(text, TextUnit::word);
      std::size_t begin = 0;
      for (int at = chunk.first; at < chunk.first + chunk.count; ++at) {
        const auto next = std::upper_bound(ends.begin(), ends.end(), begin);
        if (at == chunk.first ||
            (begin > 0 && std::binary_search(ends.begin(), ends.end(), begin))) {
          const int before = to_int(next - ends.begin());
          words.push_back({{}, at, 0, WordType::word, chunk.text_index + before});
        }
        ++words.back().count;
        begin += text_of(piece(at)).size();
      }
      more += to_int(ends.size()) - 1;
    }
    next_index_ += more;
    return words;
  }

  /// Splits punctuation off both ends of the text's words, and spells every word.
  std::vector<Word> refine(const std::vector<Word>& chunks) const {
    std::vector<Word> words;
    int missing = 0;  // word-boundary tokens without text, which are not words
    for (const Word& chunk : chunks) {
      if (chunk.type == WordType::special) {
        words.push_back(spelled(chunk));
        continue;
      }
      Word word = chunk;
      word.text_index -= missing;
      if (is_blank(word)) {
        ++missing;
        word.type = WordType::special;
        word.text_index = -1;
        words.push_back(spelled(word));
        continue;
      }
      take_apart(word, words);
    }
    return words;
  }

  const std::string& piece(int index) const { return at(pieces_, index); }

  bool is_blank(const Word& word) const {
    for (int at = word.first; at < word.first + word.count; ++at) {
      if (!without_space_symbol(piece(at)).empty()) return false;
    }
    return true;
  }

  void take_apart(const Word& word, std::vector<Word>& words) const {
    const auto is_edge = [this](int at) {
      return without_space_symbol(piece(at)).empty() || is_punctuation(piece(at));
    };
    const int end = word.first + word.count;
    if (is_punctuation(spelled(word).text)) {  // also in bytes
      add(words, word, word.first, end, WordType::punctuation);
      return;
    }
    int core = word.first;
    while (core < end && is_edge(core)) ++core;
    int core_end = end;
    while (core_end > core && is_edge(core_end - 1)) --core_end;
    // A token "▁" alone only begins a word and is not punctuation to split off.
    if (!has_punctuation(word.first, core)) core = word.first;
    if (!has_punctuation(core_end, end)) core_end = end;
    add(words, word, word.first, core, WordType::punctuation);
    add(words, word, core, core_end, WordType::word);
    add(words, word, core_end, end, WordType::punctuation);
  }

  bool has_punctuation(int begin, int end) const {
    for (int at = begin; at < end; ++at) {
      if (is_punctuation(piece(at))) return true;
    }
    return false;
  }

  void add(std::vector<Word>& words, const Word& whole, int begin, int end, WordType kind) const {
    if (begin == end) return;
    words.push_back(spelled({{}, begin, end - begin, kind, whole.text_index}));
  }

  Word spelled(Word word) const {
    for (int at = word.first; at < word.first + word.count; ++at) {
      word.text += text_of(piece(at));
    }
    if (is_valid_utf8(word.text)) return word;
    word.text.clear();  // bytes of a part of a character keep their names
    for (int at = word.first; at < word.first + word.count; ++at) {
      word.text += without_space_symbol(piece(at));
    }
    return word;
  }

  const std::vector<std::string>& pieces_;
  std::string_view text_;
  const std::vector<std::string>& more_special_;
  int next_index_ = 0;  ///< number of words of the text so far
};

/// Returns the number of words of the text that the tokens contain.
int indexed_words(const std::vector<Word>& words) {
  int count = 0;
  for (const Word& word : words) count = std::max(count, word.text_index + 1);
  return count;
}

/// Splits a text at spaces and, where its script has none, at ICU's word boundaries.
std::vector<std::string_view> words_of_text(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    std::size_t end = 0;  // of the part before the next space
    while (end < text.size()) {
      const CodePoint c = decode_code_point(text.substr(end));
      if (u_isUWhiteSpace(static_cast<UChar32>(c.value))) break;
      end += c.length;
    }
    const std::string_view part = text.substr(0, end);
    if (is_valid_utf8(part) && has_unspaced_script(part)) {
      std::size_t begin = 0;
      for (const std::size_t boundary : text_boundaries(part, TextUnit::word)) {
        words.push_back(part.substr(begin, boundary - begin));
        begin = boundary;
      }
    } else if (end > 0) {
      words.push_back(part);
    }
    text.remove_prefix(end);
    if (!text.empty()) text.remove_prefix(decode_code_point(text).length);
  }
  return words;
}

}  // namespace

bool is_punctuation(std::string_view piece) {
  std::string_view text = without_space_symbol(piece);
  if (text.empty()) return false;
  while (!text.empty()) {
    const CodePoint c = decode_code_point(text);
    if (!c.valid || !u_ispunct(static_cast<UChar32>(c.value))) return false;
    text.remove_prefix(c.length);
  }
  return true;
}

int count_text_words(std::string_view text) {
  return to_int(words_of_text(text).size());
}

std::string text_word(std::string_view text, int index) {
  const std::vector<std::string_view> words = words_of_text(text);
  return std::string(index < to_int(words.size()) ? at(words, index) : "");
}

std::string strip_punctuation(std::string_view word) {
  std::size_t first = word.size(), end = 0;  // of the part without punctuation
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t length = decode_code_point(word.substr(at)).length;
    if (!is_punctuation(word.substr(at, length))) {
      first = std::min(first, at);
      end = at + length;
    }
    at += length;
  }
  return std::string(end == 0 ? word : word.substr(first, end - first));
}

std::vector<Word> split_words(const std::vector<std::string>& pieces, std::string_view text,
                              const std::vector<std::string>& more_special) {
  return WordSplitter(pieces, text, more_special).split();
}

RecordWords words_in_record(const AttentionRecord& record, std::size_t hypothesis) {
  RecordWords words;
  std::vector<std::string> special;
  if (!record.source.tokens.empty()) special.push_back(record.source.tokens.back());
  words.source = split_words(record.source.tokens, record.source_text, special);
  words.fits_text = indexed_words(words.source) == count_text_words(record.source_text);
  if (hypothesis >= record.hypotheses.size()) return words;
  const HypothesisRecord& found = record.hypotheses[hypothesis];
  if (!found.decoder_input.tokens.empty()) special.push_back(found.decoder_input.tokens.front());
  words.target = split_words(found.produced.tokens, found.text, special);
  words.fits_text = words.fits_text && indexed_words(words.target) == count_text_words(found.text);
  return words;
}

std::vector<Word> text_words(const std::vector<Word>& words) {
  std::vector<Word> chosen;
  for (const Word& word : words) {
    if (word.type == WordType::special) continue;
    if (chosen.empty() || chosen.back().text_index != word.text_index) {
      chosen.push_back(word);
    } else if (word.type == WordType::word) {
      chosen.back() = word;  // comes after the punctuation that it begins with
    }
  }
  return chosen;
}

std::vector<Word> by_reading_step(const std::vector<Word>& words, int rows) {
  std::vector<Word> read;
  for (Word word : words) {
    ++word.first;
    word.count = std::min(word.count, rows - word.first);
    if (word.count > 0) read.push_back(word);
  }
  return read;
}

std::vector<Word> content_words(const std::vector<Word>& words) {
  std::vector<Word> chosen;
  std::copy_if(words.begin(), words.end(), std::back_inserter(chosen),
               [](const Word& word) { return word.type == WordType::word; });
  return chosen;
}

namespace {

constexpr std::size_t kMostListed = 24;

/// Spells words as in the text, because unknown tokens have no text of their own.
std::vector<Word> with_text_spelling(std::vector<Word> words, std::string_view text,
                                     bool fits_text) {
  if (!fits_text) return words;
  for (Word& word : words) {
    const bool unmatched = word.text.find("<unk>") != std::string::npos;
    if (unmatched && word.type == WordType::word)
      word.text = strip_punctuation(text_word(text, word.text_index));
  }
  return words;
}

TokenAxis axis_of(const AttentionRecord& record, std::size_t hypothesis, bool source) {
  const RecordWords words = words_in_record(record, hypothesis);
  if (source)
    return {"source", with_text_spelling(words.source, record.source_text, words.fits_text)};
  if (hypothesis >= record.hypotheses.size()) return {"translation", {}};
  return {"translation",
          with_text_spelling(words.target, record.hypotheses[hypothesis].text, words.fits_text)};
}

/// Formats a list of words as "0 Die, 1 Gruppe, 2 ging".
std::string listed(const std::vector<Word>& words) {
  std::string text;
  for (std::size_t i = 0; i < std::min(words.size(), kMostListed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", words[i].first, excerpt(words[i].text));
  }
  return words.size() > kMostListed ? text + ", …" : text;
}

}  // namespace

TokenAxis query_axis(const AttentionRecord& record, AttentionSite kind, std::size_t hypothesis) {
  return axis_of(record, hypothesis, kind == AttentionSite::encoder_self);
}

TokenAxis key_axis(const AttentionRecord& record, AttentionSite kind, std::size_t hypothesis) {
  TokenAxis axis = axis_of(record, hypothesis, kind != AttentionSite::decoder_self);
  if (kind != AttentionSite::decoder_self || hypothesis >= record.hypotheses.size()) return axis;
  const TokenSequence& input = record.hypotheses[hypothesis].decoder_input;
  axis.words = by_reading_step(axis.words, to_int(input.tokens.size()));
  if (!input.tokens.empty()) {
    axis.words.insert(axis.words.begin(), {input.tokens.front(), 0, 1, WordType::special, -1});
  }
  return axis;
}

bool is_index(std::string_view written) {
  return !written.empty() && written.find_first_not_of("0123456789") == written.npos;
}

int find_token(std::string_view written, const TokenAxis& axis) {
  if (is_index(written)) {
    const std::optional<int> index = parse_index(written);
    if (index) return *index;
    throw UsageError("{}: expected a whole number from 0, in plain decimals", excerpt(written));
  }
  std::vector<int> places;
  for (const Word& word : axis.words) {
    if (word.text == written) places.push_back(word.first);
  }
  if (places.size() == 1) return places.front();
  if (places.empty()) {
    throw UsageError("{}: the {} has no such word; it has {}", excerpt(written), axis.side,
                     axis.words.empty() ? "none" : listed(axis.words));
  }
  throw UsageError("{}: the {} has this word at {}; give one of these numbers", excerpt(written),
                   axis.side, fmt::format("{}", fmt::join(places, ", ")));
}

}  // namespace attn
