#include "text/sentence_splitter.h"

#include <unicode/uchar.h>
#include <algorithm>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/at.h"
#include "base/strings/utf8.h"
#include "base/strings/text_boundaries.h"

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
/// These end a sentence in text without spaces.
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

/// True if a full stop ends the sentence. `before` is the text before the full stop.
bool full_stop_ends(std::string_view before, const Boundary& boundary) {
  if (before.ends_with('.')) return false;  // an ellipsis
  const std::string_view word = word_before(before);
  if (word.empty()) return true;  // " . " in a tokenized text
  const std::string next = boundary.next_word();
  const bool number_follows =
      !boundary.after.empty() && is_digit(decode_code_point(boundary.after).value);
  const bool starts = is_sentence_starter(next);
  const bool letter =
      decode_code_point(word).length == word.size() && is_letter(decode_code_point(word).value);
  if (is_never_sentence_end(word)) return false;
  if (number_follows && precedes_number(word)) return false;
  // In "z. B. Die …" and "J. R. …" the letter before has a dot of its own.
  if (letter) {
    const std::string_view earlier = without_end(before.substr(0, before.size() - word.size()),
                                                 [](char32_t c) { return is_blank(c); });
    return starts && !earlier.ends_with('.');
  }
  if (is_ordinal(word)) return starts && word.size() < before.size();  // not "1. The first item"
  if (is_dotted(word) || may_end_sentence(word)) return starts;
  return true;
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

/// Capitalizes every word of a text without capitals and keeps its length in bytes: Annex 29 takes
/// a full stop before a lower-case letter for an abbreviation's.
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

namespace {

// A word in lower case also matches in its capitalized form. A capitalized word matches only as
// written, because its lower-case form is an ordinary word.
constexpr std::string_view kNever[] = {
    "mr",  "mrs",  "ms",     "mx",   "dr",  "drs",   "prof", "Gen", "Col",  "Capt", "Lt",
    "Sgt", "Maj",  "Cmdr",   "Rev",  "Hon", "Gov",   "Sen",  "Rep", "Pres", "Mt",   "Messrs",
    "Mme", "Mlle", "Hr",     "Hrn",  "Frl", "dipl",  "Ing",  "e.g", "i.e",  "eg",   "vs",
    "cf",  "viz",  "approx", "z.B",  "zB",  "d.h",   "bzw",  "ca",  "vgl",  "evtl", "ggf",
    "sog", "inkl", "exkl",   "zzgl", "u.U", "i.d.R", "v.a",  "m.E", "geb"};
constexpr std::string_view kNumbering[] = {
    "no",   "nos", "nr", "p",   "pp",  "S",   "fig", "figs", "abb", "tab", "eq", "sec", "ch",
    "chap", "vol", "bd", "art", "abs", "kap", "pos", "tel",  "ver", "op",  "rm", "apt"};
constexpr std::string_view kMayEnd[] = {
    "etc",  "inc", "ltd",  "Co",    "corp", "bros", "jr",  "sr",  "esq", "St",  "Ave",
    "Blvd", "Rd",  "dept", "univ",  "est",  "al",   "Jan", "Feb", "Mar", "Apr", "Jun",
    "Jul",  "Aug", "Sep",  "Sept",  "Oct",  "Okt",  "Nov", "Dec", "Dez", "Mon", "Tue",
    "Tues", "Wed", "Thu",  "Thurs", "Fri",  "Sat",  "Sun", "usw", "usf", "Str", "Std",
    "min",  "max", "Sek",  "Jh",    "Jhd",  "Hbf",  "hrs", "Fr",  "Mio", "Mrd"};
constexpr std::string_view kStarters[] = {
    // English
    "a", "an", "the", "he", "she", "it", "we", "they", "you", "this", "that", "these", "those",
    "there", "here", "my", "your", "his", "her", "its", "our", "their", "what", "when", "where",
    "who", "why", "how", "which", "if", "and", "but", "so", "then", "now", "after", "before", "in",
    "on", "at", "yes", "no", "not", "please", "do", "does", "did", "don't", "don’t", "can", "could",
    "would", "should", "is", "are", "was", "were", "have", "has", "had", "let", "let's", "let’s",
    "it's", "it’s", "he's", "he’s", "she's", "she’s", "that's", "that’s", "maybe", "perhaps",
    "however", "also", "some", "many", "everyone", "nobody", "nothing", "because", "although",
    "while", "since", "every", "all",
    // German
    "der", "die", "das", "ein", "eine", "einen", "einem", "einer", "er", "sie", "es", "wir", "ihr",
    "ich", "du", "dies", "diese", "dieser", "dieses", "hier", "dort", "da", "dann", "jetzt", "nun",
    "mein", "meine", "dein", "deine", "sein", "seine", "unser", "unsere", "was", "wann", "wo",
    "wer", "warum", "wie", "welche", "und", "aber", "oder", "denn", "doch", "wenn", "weil", "als",
    "nach", "vor", "im", "am", "auf", "mit", "bei", "ja", "nein", "bitte", "nicht", "kein", "keine",
    "man", "auch", "heute", "morgen", "gestern", "danach", "alle", "viele"};

bool holds(std::span<const std::string_view> list, std::string_view word) {
  return std::ranges::find(list, word) != list.end();
}

/// True if the list holds the word, or its lower-case form if it begins with a capital.
bool holds_either(std::span<const std::string_view> list, std::string_view word) {
  if (holds(list, word)) return true;
  std::string small(word);
  if (small.empty() || small.front() < 'A' || small.front() > 'Z') return false;
  small.front() = static_cast<char>(small.front() - 'A' + 'a');
  return holds(list, small);
}

}  // namespace

bool is_never_sentence_end(std::string_view word) {
  return holds_either(kNever, word);
}

bool precedes_number(std::string_view word) {
  return holds_either(kNumbering, word);
}

bool may_end_sentence(std::string_view word) {
  return holds_either(kMayEnd, word);
}

bool is_sentence_starter(std::string_view word) {
  return holds(kStarters, word);
}

}  // namespace attn
