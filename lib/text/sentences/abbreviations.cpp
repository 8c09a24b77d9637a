#include "text/sentences/abbreviations.h"

#include <algorithm>
#include <span>
#include <string>

namespace attn {
namespace {

// Of a word in small letters the capitalised form counts, too; one with a capital counts as it is
// written, because its small form is a word.
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

/// The word as it is, or where it begins with a capital, in small letters.
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
