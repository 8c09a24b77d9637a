#include "text/abbreviations.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <span>
#include <string>

#include "base/at.h"
#include "base/strings/utf8.h"

namespace attn {
namespace {

// A word in lower case also matches in its capitalized form. A capitalized word matches only as
// written, because its lower-case form is an ordinary word.
constexpr std::string_view kJoinsNext[] = {
    "mr",     "mrs",       "ms",      "mx",      "dr",     "drs",       "prof",   "profs",
    "Gen",    "Col",       "Capt",    "Cpt",     "Lt",     "Ltn",       "Oblt",   "Sgt",
    "Cpl",    "Pvt",       "Pte",     "Maj",     "Cmdr",   "Cdr",       "Comdr",  "Adm",
    "Brig",   "Supt",      "Insp",    "Det",     "Hptm",   "Uffz",      "Obst",   "Rev",
    "Hon",    "Gov",       "Sen",     "Rep",     "Pres",   "Amb",       "Atty",   "Msgr",
    "Mgr",    "Mons",      "Mt",      "Mts",     "Ft",     "Messrs",    "Mme",    "Mlle",
    "Hr",     "Hrn",       "Frl",     "dipl",    "Ing",    "Mag",       "Lic",    "Priv",
    "Doz",    "Bgm",       "e.g",     "i.e",     "eg",     "vs",        "cf",     "viz",
    "approx", "incl",      "excl",    "esp",     "z.B",    "zB",        "d.h",    "bzw",
    "bspw",   "ca",        "vgl",     "evtl",    "eventl", "ggf",       "ggfs",   "sog",
    "inkl",   "exkl",      "einschl", "ausschl", "zzgl",   "abzgl",     "bzgl",   "u.U",
    "i.d.R",  "v.a",       "m.E",     "geb",     "gest",   "verst",     "verh",   "kath",
    "evang",  "ehem",      "lat",     "griech",  "ital",   "amerik",    "europ",  "versch",
    "ausgen", "jüd",       "christl", "Sec",     "attn",   "misc",      "Vors",   "stellv",
    "Abg",    "re",        "insb",    "insbes",  "russ",   "islam",     "wiss",   "techn",
    "natürl", "durchschn", "ungef",   "vorauss", "jährl",  "halbjährl", "stündl", "Psych",
    "Päd",    "Betriebsw", "Kfm",     "Volksw",  "Dir",    "StR",       "OStR",   "StD",
    "Obltn",  "Ges",       "Abp",     "Ofc",     "Ens",    "Sra",       "Srta",   "Dn",
    "Robt",   "avg",       "priv",    "spez",    "frz",    "engl",      "dt"};
constexpr std::string_view kLabels[] = {
    "no",     "nos",    "nr",     "nrn",         "N°",    "Nº",    "n°",    "nº",      "p",
    "pp",     "S",      "fig",    "figs",        "abb",   "abbn",  "tab",   "tabs",    "eq",
    "eqs",    "eqn",    "sec",    "secs",        "sect",  "sects", "ch",    "chap",    "chaps",
    "vol",    "vols",   "bd",     "bde",         "art",   "arts",  "abs",   "kap",     "pos",
    "tel",    "ver",    "op",     "rm",          "apt",   "para",  "paras", "ref",     "refs",
    "ext",    "ln",     "app",    "appx",        "exs",   "add",   "cl",    "subsect", "subsec",
    "pt",     "pts",    "bk",     "stmt",        "prop",  "thm",   "lem",   "def",     "§",
    "§§",     "ziff",   "rdn",    "rdnr",        "rn",    "rz",    "anm",   "anl",     "anh",
    "lit",    "ausg",   "aufl",   "jg",          "jahrg", "hft",   "ep",    "suppl",   "ser",
    "teleph", "fol",    "illus",  "plt",         "lfg",   "lief",  "bsp",   "übg",     "hnr",
    "mind",   "höchst", "abschn", "unterabschn", "beil",  "bem",   "kto",   "aktenz",  "teilbd",
    "exh",    "bldg",   "Cor",    "Vat",         "ctn"};
constexpr std::string_view kMayEnd[] = {
    "etc",    "inc",   "ltd",    "Co",      "corp",    "bros",    "jr",    "sr",    "esq",
    "St",     "Ave",   "Blvd",   "Rd",      "Sq",      "Ln",      "Hwy",   "Pkwy",  "dept",
    "univ",   "assn",  "assoc",  "inst",    "acad",    "est",     "al",    "ed",    "eds",
    "cit",    "ibid",  "repr",   "trans",   "transl",  "orig",    "anon",  "pseud", "hrsg",
    "Hg",     "Verf",  "Übers",  "überarb", "erw",     "ff",      "Chr",   "Calif", "Penn",
    "Conn",   "Tenn",  "Ariz",   "Colo",    "Fla",     "Mich",    "Minn",  "Okla",  "Nev",
    "Jan",    "Feb",   "Mar",    "Apr",     "Jun",     "Jul",     "Aug",   "Sep",   "Sept",
    "Oct",    "Okt",   "Nov",    "Dec",     "Dez",     "Mon",     "Tue",   "Tues",  "Wed",
    "Thu",    "Thurs", "Fri",    "Sat",     "Sun",     "usw",     "usf",   "Str",   "Std",
    "min",    "max",   "Sek",    "Jh",      "Jhd",     "Jhs",     "Jahrh", "Hbf",   "hrs",
    "Fr",     "Mio",   "Mrd",    "Tsd",     "resp",    "seq",     "Arch",  "Bearb", "gem",
    "poln",   "ev",    "röm",    "österr",  "schweiz", "tschech", "ungar", "türk",  "schwed",
    "norweg", "dän",   "portug", "arab",    "jap",     "sächs",   "bayer", "preuß", "württ",
    "hess",   "Fa",    "Fam",    "Abt",     "Ven",     "Asst",    "Inh",   "Geo",   "Chas",
    "Thos",   "Jas",   "Ste",    "bes",     "allg",    "ebd",     "cap",   "int",   "Präs",
    "Bez",    "Reg"};

/// Labels that are ordinary words, too.
constexpr std::string_view kOrdinaryLabels[] = {
    "no",  "nos", "art",  "arts", "sec",  "tab", "tabs", "pos", "ver",  "op",  "rm",
    "ext", "app", "para", "ref",  "refs", "ch",  "add",  "lit", "prop", "mind"};

/// Sounds without a vowel.
constexpr std::string_view kSounds[] = {"hm",   "hmm",   "mm",   "mmm", "hmpf", "pst",
                                        "psst", "pssst", "sh",   "shh", "shhh", "grr",
                                        "grrr", "brr",   "brrr", "tsk", "pfft", "zzz"};
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

/// Converts a word's first letter to lower case.
std::string uncapitalized(std::string_view word) {
  if (word.empty()) return {};
  const CodePoint first = decode_code_point(word);
  std::string out;
  append_code_point(out, static_cast<char32_t>(u_tolower(static_cast<UChar32>(first.value))));
  return out += word.substr(first.length);
}

/// True if the list holds the word, or its form with a small first letter.
bool holds_either(std::span<const std::string_view> list, std::string_view word) {
  return holds(list, word) || holds(list, uncapitalized(word));
}

/// True for an abbreviation that its letters give away: two letters or more, none a vowel, or a
/// stop and then "l" or "r" at the end. Acronyms (TV, PhDs) are words: they have capitals inside.
bool has_abbreviation_shape(std::string_view word) {
  constexpr std::u32string_view kVowels = U"aeiouyäöüáàâéèêëíìîïóòôúùûAEIOUYÄÖÜ";
  constexpr std::string_view kStops = "bcdfgkptzs";
  const std::string small = uncapitalized(word);
  std::size_t letters = 0;
  bool vowel = false;
  for (std::string_view rest = small; !rest.empty(); ++letters) {
    const CodePoint c = decode_code_point(rest);
    if (u_islower(static_cast<UChar32>(c.value)) == 0) return false;
    vowel = vowel || kVowels.find(c.value) != kVowels.npos;
    rest.remove_prefix(c.length);
  }
  if (letters < 2) return false;
  if (!vowel) return !holds(kSounds, small);
  if (letters < 4) return false;
  const char last = small.back();
  const bool chl = small.ends_with("chl");
  return chl ||
         ((last == 'l' || last == 'r') && kStops.find(small[small.size() - 2]) != kStops.npos);
}

}  // namespace

AbbreviationKind abbreviation_kind(std::string_view word) {
  if (holds_either(kJoinsNext, word)) return AbbreviationKind::joins_next;
  if (holds_either(kLabels, word)) return AbbreviationKind::labels_number;
  if (holds_either(kMayEnd, word) || has_abbreviation_shape(word)) return AbbreviationKind::may_end;
  return AbbreviationKind::none;
}

bool is_ordinary_word(std::string_view label) {
  return holds_either(kOrdinaryLabels, label);
}

bool is_roman_numeral(std::string_view word) {
  constexpr std::string_view kDigits = "IVXLCDM";
  constexpr int kValues[] = {1, 5, 10, 50, 100, 500, 1000};
  if (word.empty()) return false;
  const bool small = word.front() >= 'a';
  // Values fall, except that one smaller digit may precede a digit at most ten times as large.
  int last = 10'000, run = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char digit = small ? static_cast<char>(word[i] - 'a' + 'A') : word[i];
    const std::size_t place = kDigits.find(digit);
    if (place == kDigits.npos) return false;
    const int value = kValues[place];
    run = value == last ? run + 1 : 1;
    if (run > 3 || (place % 2 == 1 && run > 1)) return false;
    if (value > last) {
      const bool subtracts = place > 0 && i > 0 && (value == last * 5 || value == last * 10);
      if (!subtracts || (i >= 2 && word[i - 2] == word[i - 1])) return false;
    }
    last = value;
  }
  return true;
}

bool is_sentence_starter(std::string_view word) {
  return holds(kStarters, word);
}

}  // namespace attn
