#include "text/sentence_splitter.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/at.h"
#include "base/strings/text_boundaries.h"
#include "base/strings/utf8.h"
#include "text/abbreviations.h"

namespace attn {
namespace {

bool is_blank(char32_t c) {
  return u_isUWhiteSpace(static_cast<UChar32>(c)) != 0;
}
bool is_digit(char32_t c) {
  return u_isdigit(static_cast<UChar32>(c)) != 0;
}
bool is_lower(char32_t c) {
  return u_islower(static_cast<UChar32>(c)) != 0;
}
bool is_letter(char32_t c) {
  return u_isalpha(static_cast<UChar32>(c)) != 0;
}
bool is_one_of(std::u32string_view set, char32_t c) {
  return set.find(c) != set.npos;
}

constexpr std::u32string_view kOpening = U"\"'([{<“„”‘‚«»‹›¿¡-–—";
constexpr std::u32string_view kClosing = U"\"')]}>”“’‘«»‹›";
/// Characters that end a sentence in text without spaces.
constexpr std::u32string_view kIdeographicEnds = U"。！？｡";

/// Returns the last character of a non-empty text.
CodePoint last_code_point(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  return decode_code_point(text.substr(at));
}

/// Removes the trailing characters for which `drop` is true.
template <typename Drop>
std::string_view without_end(std::string_view text, Drop&& drop) {
  while (!text.empty()) {
    const CodePoint last = last_code_point(text);
    if (!drop(last.value)) break;
    text.remove_suffix(last.length);
  }
  return text;
}

template <typename Drop>
std::string_view without_start(std::string_view text, Drop&& drop) {
  while (!text.empty()) {
    const CodePoint first = decode_code_point(text);
    if (!drop(first.value)) break;
    text.remove_prefix(first.length);
  }
  return text;
}

/// Returns the leading characters for which `keep` is true.
template <typename Keep>
std::string_view start_of(std::string_view text, Keep&& keep) {
  return text.substr(0, text.size() - without_start(text, keep).size());
}

/// Converts a text to lower case.
std::string in_small_letters(std::string_view text) {
  std::string out;
  for (; !text.empty(); text.remove_prefix(decode_code_point(text).length)) {
    const auto letter = static_cast<UChar32>(decode_code_point(text).value);
    append_code_point(out, static_cast<char32_t>(u_tolower(letter)));
  }
  return out;
}

/// The text before and after a possible sentence boundary.
struct Boundary {
  std::string_view before;  ///< from the start of the sentence, without spaces at the end
  std::string_view after;   ///< to the end of the text, without spaces at the start
  bool blank = false;       ///< there are spaces between the two

  /// Returns the first word of the next sentence in lower case.
  std::string next_word() const {
    const std::string_view word =
        without_start(after, [](char32_t c) { return is_one_of(kOpening, c); });
    return in_small_letters(start_of(
        word, [](char32_t c) { return is_letter(c) || c == U'\'' || c == U'’' || is_digit(c); }));
  }
};

/// True for "U.S", "p.m", "z.B": short runs of letters with dots between.
bool is_dotted(std::string_view word) {
  constexpr std::ptrdiff_t kLongestRun = 3;
  std::ptrdiff_t run = 0;
  bool dotted = false;
  for (std::string_view rest = word; !rest.empty();) {
    const CodePoint c = decode_code_point(rest);
    rest.remove_prefix(c.length);
    if (c.value == U'.') {
      if (run == 0) return false;
      dotted = true;
      run = 0;
    } else if (!is_letter(c.value) || ++run > kLongestRun) {
      return false;
    }
  }
  return dotted && run > 0;
}

/// True for "3", "21", "II", "XIV", which a dot makes ordinal in German.
bool is_ordinal(std::string_view word) {
  constexpr std::size_t kMostDigits = 3;  // four digits are a year
  const bool digits = std::ranges::all_of(word, [](char c) { return c >= '0' && c <= '9'; });
  const bool roman = word.size() > 1 && word.find_first_not_of("IVXL") == word.npos;
  return (digits && word.size() <= kMostDigits) || roman;
}

/// Returns the word before a full stop, which begins after the last space, hyphen or slash.
std::string_view word_before(std::string_view before) {
  const std::string_view earlier =
      without_end(before, [](char32_t c) { return !is_blank(c) && !is_one_of(U"-–—/", c); });
  return without_start(before.substr(earlier.size()),
                       [](char32_t c) { return is_one_of(kOpening, c); });
}

/// The last word of a text, and the text before it.
struct LastWord {
  std::string_view earlier;  ///< without spaces at the end
  std::string_view word;
};
LastWord last_word(std::string_view text) {
  const std::string_view word = word_before(text);
  const std::string_view earlier =
      word.empty() ? text : text.substr(0, to_size(word.data() - text.data()));
  return {without_end(earlier, is_blank), word};
}

/// True for a small-lettered part of a title: med in "Dr. med.", nat in "Dr. rer. nat.".
bool continues_title(LastWord part) {
  while (!part.word.empty() && is_lower(decode_code_point(part.word).value)) {
    if (!part.earlier.ends_with('.')) return false;
    part = last_word(part.earlier.substr(0, part.earlier.size() - 1));
  }
  constexpr std::string_view kTitles[] = {"Dr", "Drs", "Prof", "Dipl", "Mag", "Lic", "Ing"};
  return std::ranges::find(kTitles, part.word) != std::end(kTitles);
}

/// True if a label's number follows: "2.1", "(3)", "§ 5", "IV", "A1", "B".
bool number_follows(std::string_view label, std::string_view after) {
  const std::string_view text =
      without_start(after, [](char32_t c) { return is_one_of(U"\"([{#§$€£№„“ ", c); });
  const std::string_view token =
      start_of(text, [](char32_t c) { return is_letter(c) || is_digit(c); });
  if (token.empty()) return false;
  if (std::ranges::any_of(token, [](char c) { return c >= '0' && c <= '9'; })) {
    const std::size_t letters = token.find_first_of("0123456789");
    return letters <= 2;  // "A1", "IV3"
  }
  if (token.size() == 1) {
    const bool word = token == "A" || token == "I";
    const std::string_view later = text.substr(1);  // ".2" of "A.2"
    const bool numbered = later.size() > 1 && !is_blank(decode_code_point(later).value) &&
                          is_digit(decode_code_point(later.substr(1)).value);
    return !word || numbered || !is_ordinary_word(label);
  }
  return is_roman_numeral(token);
}

/// True if a word is the number of a label: "IV" in "Chap. IV", "B" in "Fig. B".
bool follows_label(const LastWord& last) {
  if (!last.earlier.ends_with('.')) return false;
  const LastWord label = last_word(last.earlier.substr(0, last.earlier.size() - 1));
  // A label of one letter may be an initial.
  return label.word.size() > 1 && !is_ordinary_word(label.word) &&
         abbreviation_kind(label.word) == AbbreviationKind::labels_number &&
         number_follows(label.word, last.word);
}

/// Returns the number of a list item's marker: 9 of "9", 2 of "b"; 0 for other words.
int marker_number(std::string_view word) {
  if (word.size() == 1 && word.front() >= 'a' && word.front() <= 'z') return word.front() - 'a' + 1;
  if (word.empty() || word.size() > 3) return 0;
  int number = 0;
  for (const char c : word) {
    if (c < '0' || c > '9') return 0;
    number = number * 10 + (c - '0');
  }
  return number;
}

/// True if the word is a list item's marker: the first word of the sentence ("1. The first item"),
/// or the marker after that one ("1. The first item 2. The second item").
bool is_list_marker(std::string_view sentence, const LastWord& last) {
  const auto bullet = [](char32_t c) {
    return is_blank(c) || is_one_of(kOpening, c) || is_one_of(U"•⁃‣◦*", c);
  };
  const int number = marker_number(without_start(last.word, bullet));
  const std::string_view text = without_start(sentence, bullet);
  if (number == 0 || last.earlier.empty() || without_start(last.earlier, bullet).empty()) {
    return number > 0;
  }
  const auto word = start_of(text, [](char32_t c) { return is_digit(c) || is_letter(c); });
  const bool marked = text.size() > word.size() && text[word.size()] == '.';
  return marked && marker_number(word) + 1 == number &&
         is_digit(decode_code_point(text).value) == is_digit(decode_code_point(last.word).value);
}

/// True if the word is a unit after a number, as in "5 kg", which is not an abbreviation.
bool is_unit(const LastWord& last) {
  return !last.earlier.empty() && is_digit(last_code_point(last.earlier).value) &&
         is_lower(decode_code_point(last.word).value);
}

/// True if an ellipsis ends the sentence: it has a fourth dot, the full stop. Dots may have spaces
/// between them.
bool ellipsis_ends(std::string_view before) {
  constexpr int kDots = 4;
  int dots = 1;
  for (std::string_view rest = before; rest.ends_with('.'); ++dots) {
    rest = without_end(rest.substr(0, rest.size() - 1), is_blank);
  }
  return dots == kDots;
}

/// True for a short capitalized word inside a sentence. Before a number it is more often a label
/// (Reg. 7, Rom. 8:28, Amend. XIV) than the end of a sentence.
bool looks_like_label(const LastWord& last) {
  constexpr std::size_t kLongest = 5;
  return !last.earlier.empty() && last.word.size() >= 2 && last.word.size() <= kLongest &&
         u_isupper(static_cast<UChar32>(decode_code_point(last.word).value)) != 0 &&
         is_lower(last_code_point(last.word).value);
}

/// True if a text begins with a number, or with a Roman numeral of several letters; not with the
/// marker of a list item, as "2. The light goes on."
bool refers(std::string_view after) {
  const std::string_view token =
      start_of(after, [](char32_t c) { return is_letter(c) || is_digit(c); });
  if (after.substr(token.size()).starts_with(". ")) return false;
  return (!token.empty() && is_digit(decode_code_point(token).value)) ||
         (token.size() > 1 && is_roman_numeral(token));
}

/// True if an abbreviation or an ordinary word ends the sentence before `next`.
bool word_ends(const LastWord& last, const Boundary& boundary, bool starts) {
  switch (abbreviation_kind(last.word)) {
    case AbbreviationKind::joins_next:
      return false;
    case AbbreviationKind::labels_number:
      if (number_follows(last.word, boundary.after)) return false;
      return starts || is_ordinary_word(last.word);
    case AbbreviationKind::may_end:
      return starts || is_unit(last);
    case AbbreviationKind::none:
      break;
  }
  if (is_dotted(last.word)) return starts;
  return !(looks_like_label(last) && refers(boundary.after));
}

/// True if a full stop ends the sentence. `before` is the text before the full stop.
bool full_stop_ends(std::string_view before, const Boundary& boundary) {
  if (without_end(before, is_blank).ends_with('.')) {
    return ellipsis_ends(without_end(before, is_blank));
  }
  const LastWord last = last_word(before);
  if (last.word.empty()) return true;  // " . " in a tokenized text
  const bool starts = is_sentence_starter(boundary.next_word());
  if (is_list_marker(before, last)) return false;
  // After a label, "B" and "IV" are neither an initial nor an ordinal: "See Fig. B. Go on."
  if (follows_label(last)) return true;
  const CodePoint first = decode_code_point(last.word);
  // In "z. B. Die …" and "J. R. …" the letter before has a dot of its own.
  if (first.length == last.word.size() && is_letter(first.value)) {
    const bool label = abbreviation_kind(last.word) == AbbreviationKind::labels_number;
    if (label && number_follows(last.word, boundary.after)) return false;
    return starts && !last.earlier.ends_with('.');
  }
  if (continues_title(last)) return false;
  // Not "1. The first item".
  if (is_ordinal(last.word)) return starts && last.word.size() < before.size();
  return word_ends(last, boundary, starts);
}

/// True for an exclamation mark that is part of a name, as in "at Yahoo! in May": a capitalized
/// word inside the sentence, after which the sentence continues in lower case.
bool is_in_name(std::string_view core, std::string_view next) {
  if (!core.ends_with('!') || next.empty() || !is_lower(decode_code_point(next).value))
    return false;
  const LastWord last = last_word(core.substr(0, core.size() - 1));
  return !last.word.empty() && !last.earlier.empty() &&
         !is_one_of(kOpening, last_code_point(last.earlier).value) &&
         u_isupper(static_cast<UChar32>(decode_code_point(last.word).value)) != 0;
}

/// True if a sentence really ends at a boundary of ICU.
bool ends(const Boundary& boundary) {
  const auto closes = [](char32_t c) { return is_one_of(kClosing, c); };
  const std::string_view core = without_end(boundary.before, closes);
  if (core.empty()) return false;  // punctuation alone is not a sentence
  const bool closed = core.size() < boundary.before.size();
  const char32_t mark = last_code_point(core).value;
  if (!boundary.blank) return is_one_of(kIdeographicEnds, mark);
  if (mark == U'…') return false;
  if (mark == U'.') return full_stop_ends(core.substr(0, core.size() - 1), boundary);
  const std::string_view next =
      without_start(boundary.after, [](char32_t c) { return is_one_of(kOpening, c); });
  if (is_in_name(core, next)) return false;
  return !(closed && !next.empty() && is_lower(decode_code_point(next).value));
}

/// Finds the bytes of a text inside quotation marks or parentheses; none if they are not balanced.
class OpenBrackets {
 public:
  explicit OpenBrackets(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_code_point(text.substr(at));
      if (!close(c.value)) open(c.value);
      if (depth_.empty() || depth_.back().second != open_.size()) {
        depth_.emplace_back(at, open_.size());
      }
      at += c.length;
    }
    if (!open_.empty()) depth_.clear();
  }

  /// True if a pair is open before byte `at`.
  bool inside(std::size_t at) const {
    const auto later = std::ranges::lower_bound(depth_, at, {}, [](auto& d) { return d.first; });
    return later != depth_.begin() && std::prev(later)->second > 0;
  }

 private:
  bool close(char32_t c) {
    if (open_.empty() || !is_one_of(open_.back(), c)) return false;
    open_.pop_back();
    return true;
  }
  void open(char32_t c) {
    static constexpr std::pair<char32_t, std::u32string_view> kPairs[] = {
        {U'(', U")"},  {U'[', U"]"}, {U'"', U"\""}, {U'“', U"”"},
        {U'„', U"“”"}, {U'«', U"»"}, {U'»', U"«"}};
    for (const auto& [opening, closing] : kPairs) {
      if (c == opening) open_.push_back(closing);
    }
  }

  std::vector<std::u32string_view> open_;  ///< the closing character of each open pair
  std::vector<std::pair<std::size_t, std::size_t>> depth_;  ///< (byte, open pairs after it)
};

/// Capitalizes every word of a text without capitals, keeping its length in bytes. Annex 29 treats
/// a full stop before a lower-case letter as part of an abbreviation.
std::string with_capitals(std::string_view text) {
  std::string out;
  bool word_begins = true;
  for (std::string_view rest = text; !rest.empty();) {
    const CodePoint c = decode_code_point(rest);
    if (u_isupper(static_cast<UChar32>(c.value)) != 0) return std::string(text);
    std::string letter(rest.substr(0, c.length));
    if (word_begins && is_lower(c.value)) {
      std::string capital;
      append_code_point(capital, static_cast<char32_t>(u_toupper(static_cast<UChar32>(c.value))));
      if (capital.size() == letter.size()) letter = capital;
    }
    out += letter;
    word_begins = is_blank(c.value);
    rest.remove_prefix(c.length);
  }
  return out;
}

}  // namespace

std::vector<SentenceSpan> split_sentences(std::string_view text) {
  const std::string read = with_capitals(text);
  const OpenBrackets pairs(text);
  const auto offset = [&](std::string_view part) { return to_size(part.data() - text.data()); };
  std::vector<SentenceSpan> sentences;
  std::size_t begin = offset(without_start(text, is_blank));
  for (const std::size_t boundary : text_boundaries(read, TextUnit::sentence)) {
    if (boundary <= begin) continue;
    const std::string_view before = without_end(text.substr(begin, boundary - begin), is_blank);
    const std::string_view after = without_start(text.substr(boundary), is_blank);
    const bool blank = begin + before.size() < offset(after);
    if (!after.empty() && !ends({before, after, blank})) continue;
    sentences.push_back({begin, begin + before.size(), pairs.inside(begin)});
    begin = offset(after);
  }
  return sentences;
}

}  // namespace attn
