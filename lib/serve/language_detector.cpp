#include "serve/language_detector.h"

#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <unordered_map>

#include "service/model/locale_names.h"

namespace attn {
namespace {

struct WordProfile {
  std::string_view language;
  std::string_view words;  ///< frequent words that occur in almost every text, in lower case
};

constexpr WordProfile kProfiles[] = {
    {"en",
     "the of and to a in is you that it he was for on are as with his they i at be this have from "
     "or had by not but what all were we when your can said there an which she do how their if "
     "will up other about out many then them these so some her would him into has two my than been "
     "who its did get may where after most me our no could hello does don't didn't it's i'm isn't "
     "should why because very yes thanks thank please good morning night today home"},
    {"de",
     "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an "
     "werden aus er hat dass sie nach wird bei einer um am sind noch wie einem über einen so zum "
     "war haben nur oder aber vor zur bis mehr durch man sein wurde ich du wir ihr mich dich uns "
     "mir dir ihm ihn kann wenn was wo warum schon sehr kein keine hallo bitte danke muss wollte "
     "habe hast ja nein guten gute gut tag morgen abend nacht heute dank geht haus"},
    {"fr",
     "le la les de des du un une et est en que qui dans pour pas sur au avec ne se il elle je tu "
     "nous vous ils elles ce cette ces son sa ses plus par mais ou où sont été être avoir fait "
     "comme tout a aux leur bien si même c'est n'est d'un d'une j'ai l'on qu'il mon ma mes bonjour "
     "merci très oui non bonsoir bonne jour monde"},
    {"es",
     "el la los las de que y en un una ser es se no por con para su al lo como más pero sus le ya "
     "o este sí porque esta entre cuando muy sin sobre también me hasta hay donde quien desde todo "
     "nos ellos uno yo tú él ella está están son fue había hola gracias del mi qué buenos buenas "
     "días noches mundo bien"},
    {"it",
     "il lo la i gli le di che e è un una in per non con si da del della dei delle al alla nel "
     "nella sono come ma più anche io tu lui lei noi ci questo questa ha hanno ho se mi ti era "
     "essere perché quando molto dove chi ciao grazie sul dal buongiorno buona sera mondo bene"},
    {"pt",
     "o a os as de que e do da em um uma para com não é no na por mais dos das se como mas ao ele "
     "ela seu sua ou quando muito nos já eu também pelo pela até isso entre era depois sem mesmo "
     "aos seus quem me esse eles você está são foi tem olá obrigado sim bom boa dia noite mundo "
     "bem"},
    {"nl",
     "de het een en van ik te dat die in is je niet zijn op aan met als voor er maar om hem dan "
     "zou of wat mijn men dit zo door over ze zich bij ook tot naar heb hoe heeft uit nog ons wel "
     "geen u waar wie deze worden hij zij wij jij hallo moet goede goedemorgen dag nee ja dank "
     "avond"},
    {"da",
     "og i jeg det at en den til er som på de med han af for ikke der var mig sig men et har om vi "
     "min havde ham hun nu over da fra du ud sin dem os op man hans hvor eller hvad skal selv her "
     "alle vil blev kunne når være kan hej tak god godmorgen ja nej dag"},
    {"no",
     "og i jeg det at en den til er som på de med han av for ikke der var meg seg men et har om vi "
     "min hadde hun nå over fra du ut sin oss opp man hans hvor eller hva skal selv her alle vil "
     "ble kunne når være kan hei takk etter god ja nei dag morgen"},
    {"sv",
     "och i att det som en på är av för med den till inte han ett om har jag de men var sig så vi "
     "från du när kan hon nu skulle ut där min mot alla sin här mycket eller hur vad mig dig hej "
     "tack också efter ska vid god ja nej dag morgon"},
    {"fi",
     "ja on ei että se hän oli en mutta minä sinä niin kuin tämä kun ovat myös olen mitä jos me te "
     "he sen jo vain nyt ole olla oli joka mukaan vielä minun hei kiitos hyvää päivää huomenta "
     "kyllä"},
    {"pl",
     "i w na z do nie się jest to że jak o a po co tak za od ja ty on ona my są ale czy jego jej "
     "był była być dla przez już tylko może ten ta te mnie mi cię go przy który która cześć "
     "dziękuję dzień dobry dobranoc proszę"},
    {"cs",
     "a v se na je že to s z do o i jsem jako za ve ale by po jak si tak pro co ten jeho ne už "
     "když jsou byl bylo být nebo mi mě jen není své dobrý děkuji jste den dobrou noc ano prosím"},
    {"hu",
     "a az és hogy nem is egy ez van volt de meg csak már mint ha azt még én te ő mi ti kell vagy "
     "lesz el ki be nagyon itt ott nincs minden szia köszönöm jó napot reggelt igen"},
    {"ro",
     "și de la în a să cu pe nu este o un că din mai se ce care pentru sunt au am fi era dar el ea "
     "eu tu noi voi sau ca lui foarte după bună mulțumesc ziua dimineața da"},
    {"tr",
     "ve bir bu da de için ile çok ne o ben sen biz siz var yok mi mı gibi daha kadar ama olarak "
     "olan değil her şey sonra en ki merhaba teşekkürler benim onun günaydın iyi evet hayır"},
    {"ru",
     "и в не на я что он с как это по но они мы она так из у за вы от то же бы для его мне было "
     "вот к да ты все был если или привет спасибо добрый день утро нет"},
    {"uk",
     "і в не на я що він з як це до та але вони ми вона так за ви від то же би для його мені було "
     "у й ти всі був якщо або є привіт дякую добрий день ранок ні"},
    {"bg",
     "и в не на аз че той с как това по но те ние тя така от за вие то се би за неговия ми беше да "
     "ти всички ако или е са съм здравей благодаря добър ден утро"}};

struct ScriptProfile {
  UScriptCode script;
  std::string_view language;
};

/// Scripts that (nearly) one language of translation models uses.
constexpr ScriptProfile kScripts[] = {
    {USCRIPT_GREEK, "el"},    {USCRIPT_HEBREW, "he"},   {USCRIPT_HANGUL, "ko"},
    {USCRIPT_HIRAGANA, "ja"}, {USCRIPT_THAI, "th"},     {USCRIPT_KATAKANA, "ja"},
    {USCRIPT_HAN, "zh"},      {USCRIPT_GEORGIAN, "ka"}, {USCRIPT_ARMENIAN, "hy"},
    {USCRIPT_TAMIL, "ta"},    {USCRIPT_TELUGU, "te"},   {USCRIPT_BENGALI, "bn"},
    {USCRIPT_KHMER, "km"},    {USCRIPT_MYANMAR, "my"}};

/// Scripts that several languages share.
constexpr ScriptProfile kSharedScripts[] = {
    {USCRIPT_CYRILLIC, "ru"},   {USCRIPT_CYRILLIC, "uk"},   {USCRIPT_CYRILLIC, "bg"},
    {USCRIPT_ARABIC, "ar"},     {USCRIPT_ARABIC, "fa"},     {USCRIPT_ARABIC, "ur"},
    {USCRIPT_DEVANAGARI, "hi"}, {USCRIPT_DEVANAGARI, "mr"}, {USCRIPT_DEVANAGARI, "ne"}};

struct LetterProfile {
  std::string_view letter;  ///< in lower case
  std::vector<std::string_view> languages;
};

/// Letters of the shared scripts that few languages use.
const std::vector<LetterProfile>& letter_profiles() {
  static const std::vector<LetterProfile> profiles = {{"ß", {"de"}},
                                                      {"ä", {"de", "sv", "fi"}},
                                                      {"ö", {"de", "sv", "fi", "hu", "tr"}},
                                                      {"ü", {"de", "tr"}},
                                                      {"œ", {"fr"}},
                                                      {"ê", {"fr", "pt"}},
                                                      {"ñ", {"es"}},
                                                      {"ã", {"pt"}},
                                                      {"õ", {"pt"}},
                                                      {"å", {"da", "no", "sv"}},
                                                      {"ø", {"da", "no"}},
                                                      {"æ", {"da", "no"}},
                                                      {"ł", {"pl"}},
                                                      {"ą", {"pl"}},
                                                      {"ę", {"pl"}},
                                                      {"ż", {"pl"}},
                                                      {"ě", {"cs"}},
                                                      {"ř", {"cs"}},
                                                      {"ů", {"cs"}},
                                                      {"ő", {"hu"}},
                                                      {"ű", {"hu"}},
                                                      {"ă", {"ro"}},
                                                      {"ș", {"ro"}},
                                                      {"ț", {"ro"}},
                                                      {"ğ", {"tr"}},
                                                      {"ı", {"tr"}},
                                                      {"ы", {"ru"}},
                                                      {"э", {"ru"}},
                                                      {"ї", {"uk"}},
                                                      {"є", {"uk"}},
                                                      {"ъ", {"bg"}}};
  return profiles;
}

using WordTable = std::unordered_map<std::string_view, std::vector<std::string_view>>;

/// Returns the languages of every profile word.
const WordTable& word_table() {
  static const WordTable table = [] {
    WordTable made;
    for (const WordProfile& profile : kProfiles) {
      for (std::size_t at = 0; at < profile.words.size();) {
        const std::size_t end = std::min(profile.words.find(' ', at), profile.words.size());
        std::vector<std::string_view>& languages = made[profile.words.substr(at, end - at)];
        if (languages.empty() || languages.back() != profile.language) {
          languages.push_back(profile.language);
        }
        at = end + 1;
      }
    }
    return made;
  }();
  return table;
}

struct TextWord {
  std::string text;  ///< in lower case
  UScriptCode script = USCRIPT_UNKNOWN;
  int letters = 0;
};

/// Splits a text into words: runs of letters of one script, with inner apostrophes.
std::vector<TextWord> split_words(std::string_view text) {
  std::vector<TextWord> words(1);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  const auto size = static_cast<std::int32_t>(text.size());
  for (std::int32_t at = 0; at < size;) {
    UChar32 c = 0;
    U8_NEXT(bytes, at, size, c);
    constexpr UChar32 kQuote = 0x2019;
    if (c == kQuote) c = '\'';
    const bool letter = c > 0 && (u_isalpha(c) != 0 || u_charType(c) == U_NON_SPACING_MARK);
    if (!letter && (c != '\'' || words.back().letters == 0)) {
      if (words.back().letters > 0) words.emplace_back();
      continue;
    }
    UErrorCode status = U_ZERO_ERROR;
    const UScriptCode script = letter ? uscript_getScript(c, &status) : words.back().script;
    const bool inherited = script == USCRIPT_COMMON || script == USCRIPT_INHERITED;
    if (words.back().letters > 0 && !inherited && script != words.back().script) {
      words.emplace_back();
    }
    TextWord& word = words.back();
    if (!inherited) word.script = script;
    word.letters += letter ? 1 : 0;
    char spelled[U8_MAX_LENGTH];
    std::int32_t length = 0;
    U8_APPEND_UNSAFE(reinterpret_cast<std::uint8_t*>(spelled), length,
                     static_cast<std::uint32_t>(u_tolower(c)));
    word.text.append(spelled, static_cast<std::size_t>(length));
  }
  if (words.back().letters == 0) words.pop_back();
  return words;
}

/// Evidence for languages, in words.
class Evidence {
 public:
  void add(const TextWord& word, bool has_kana) {
    const auto found = word_table().find(std::string_view(word.text));
    if (found != word_table().end()) {
      ++words_;
      return share(1, found->second);
    }
    for (const LetterProfile& profile : letter_profiles()) {
      // Weaker than a word: names keep their letters in other languages.
      constexpr double kWeight = 0.5;
      if (word.text.find(profile.letter) == std::string::npos) continue;
      words_ += kWeight;
      return share(kWeight, profile.languages);
    }
    std::vector<std::string_view> users;
    for (const ScriptProfile& profile : kScripts) {
      if (profile.script == word.script) users.push_back(profile.language);
    }
    if (word.script == USCRIPT_HAN && has_kana) users = {"ja"};
    const bool unique = !users.empty();
    for (const ScriptProfile& profile : kSharedScripts) {
      if (profile.script == word.script) users.push_back(profile.language);
    }
    // Some scripts are written without spaces; two of their letters count as a word.
    const double weight = unique ? std::max(1.0, word.letters / 2.0) : 1;
    words_ += weight;
    share(weight, users);
  }

  double of(std::string_view language) const {
    const auto found = by_language_.find(language);
    return found == by_language_.end() ? 0 : found->second;
  }

  /// Returns the probability of a language in percent. Each word of evidence raises its odds by a
  /// factor, against those of the other languages and of a language without a profile, to which
  /// some hits per word happen by chance. docs/serve.md measures it.
  int confidence(std::string_view language) const {
    constexpr double kFactor = 8, kChance = 0.12, kPrior = 2;
    double most = kChance * words_;
    for (const auto& [other, found] : by_language_) most = std::max(most, found);
    // Relative to the largest power, which might overflow.
    const auto power = [&](double exponent) { return std::pow(kFactor, exponent - most); };
    double all = kPrior * power(0) + power(kChance * words_);
    for (const auto& [other, found] : by_language_) all += power(found) - power(0);
    return static_cast<int>(std::lround(100 * (power(of(language)) - power(0)) / all));
  }

 private:
  void share(double weight, const std::vector<std::string_view>& languages) {
    for (const std::string_view language : languages) {
      by_language_[language] += weight / static_cast<double>(languages.size());
    }
  }

  std::map<std::string_view, double> by_language_;
  double words_ = 0;
};

/// Returns the language of a model's code as the profiles name it: "no" for Bokmål.
std::string profile_language(const std::string& code) {
  const std::string language = locale_code(code).language;
  return language == "nb" || language == "nn" ? "no" : language;
}

}  // namespace

std::vector<DetectedLanguage> detect_language(std::string_view text,
                                              const std::vector<std::string>& candidates) {
  const std::vector<TextWord> words = split_words(text);
  const bool has_kana = std::ranges::any_of(words, [](const TextWord& word) {
    return word.script == USCRIPT_HIRAGANA || word.script == USCRIPT_KATAKANA;
  });
  Evidence evidence;
  for (const TextWord& word : words) evidence.add(word, has_kana);
  std::vector<DetectedLanguage> found;
  for (const std::string& code : candidates) {
    const int confidence = evidence.confidence(profile_language(code));
    if (confidence > 0) found.push_back({code, confidence});
  }
  if (found.empty()) return {{candidates.front(), 0}};
  std::ranges::stable_sort(found, std::ranges::greater{}, &DetectedLanguage::confidence);
  return found;
}

}  // namespace attn
