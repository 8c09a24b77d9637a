#include "service/model/languages.h"
#include "config/key_reader.h"

#include <fmt/ranges.h>
#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/strings/utf8.h"
#include "service/field_text.h"
#include "service/model/locale_names.h"

namespace attn {
namespace {

std::string in_small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) {
    return c == '-' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

/// Languages of NLLB and M2M100 that are missing from Unicode's lists of names.
constexpr std::pair<std::string_view, std::string_view> kFurtherNames[] = {
    {"acm", "Mesopotamian Arabic"},
    {"acq", "Ta'izzi-Adeni Arabic"},
    {"ajp", "South Levantine Arabic"},
    {"apc", "North Levantine Arabic"},
    {"azb", "South Azerbaijani"},
    {"cjk", "Chokwe"},
    {"fuv", "Nigerian Fulfulde"},
    {"hne", "Chhattisgarhi"},
    {"kbp", "Kabiyè"},
    {"ns", "Northern Sotho"},
    {"pbt", "Southern Pashto"},
    {"quy", "Ayacucho Quechua"},
    {"taq", "Tamasheq"}};

/// Returns a language's name; if `whole`, with its script or country.
std::string name_of(const std::string& code, bool whole) {
  std::string name = english_name(code, whole);
  for (const auto& [language, further] : kFurtherNames) {
    if (name == language || name.starts_with(std::string(language) + " (")) {
      return name.replace(0, language.size(), further);
    }
  }
  return name;
}

/// Returns the four letters of a code that name a script, in lower case; empty if it names none.
std::string script_of(const std::string& code) {
  const std::string small = in_small_letters(code);
  const std::size_t begin = small.find('_');
  if (begin == std::string::npos) return "";
  const std::string part = small.substr(begin + 1, small.find('_', begin + 1) - begin - 1);
  return part.size() == 4 ? part : "";
}

/// True unless the codes name different scripts: Serbian in Latin letters is not Serbian in
/// Cyrillic letters.
bool scripts_agree(const std::string& a, const std::string& b) {
  const std::string first = script_of(a), second = script_of(b);
  return first.empty() || second.empty() || first == second;
}

/// Returns the indices of all tokens that `asked` may mean, by the closest kind of match that
/// finds any.
std::vector<std::size_t> find_candidates(const Languages& languages, const std::string& asked,
                                         const std::vector<std::string>& names) {
  const std::string small = in_small_letters(asked);
  const LocaleCode wanted = locale_code(asked);
  const auto code = [&](std::size_t i) { return languages.tokens[i].code; };
  const std::function<bool(std::size_t)> ways[] = {
      [&](std::size_t i) { return in_small_letters(code(i)) == small; },
      [&](std::size_t i) { return locale_code(code(i)).whole == wanted.whole; },
      [&](std::size_t i) {
        return locale_code(code(i)).language == wanted.language && scripts_agree(code(i), asked);
      },
      [&](std::size_t i) { return in_small_letters(names[i]) == small; },
      [&](std::size_t i) { return in_small_letters(language_name(code(i))) == small; }};
  for (const auto& same : ways) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (same(i)) found.push_back(i);
    }
    if (!found.empty()) return found;
  }
  return {};
}

/// Returns the index of the same language in another script, or else of the nearest code or name.
std::size_t nearest_language(const Languages& languages, const std::string& asked) {
  const std::string language = locale_code(asked).language;
  for (std::size_t i = 0; i < languages.tokens.size(); ++i) {
    if (locale_code(languages.tokens[i].code).language == language) return i;
  }
  std::vector<std::string> words;
  for (const LanguageToken& token : languages.tokens) {
    words.push_back(token.code);
    words.push_back(in_small_letters(language_name(token.code)));
  }
  const std::string close = nearest_word(in_small_letters(asked), words);
  return static_cast<std::size_t>(std::ranges::find(words, close) - words.begin()) / 2;
}

bool is_code(std::string_view text) {
  const auto small = [](char c) { return c >= 'a' && c <= 'z'; };
  return (text.size() == 2 || text.size() == 3) && std::ranges::all_of(text, small);
}

}  // namespace

std::optional<LanguagePair> languages_in_name(std::string_view model_name) {
  while (model_name.ends_with('/')) model_name.remove_suffix(1);
  model_name.remove_prefix(model_name.find_last_of('/') + 1);  // npos + 1 is 0
  const std::size_t last = model_name.rfind('-');
  if (last == model_name.npos) return std::nullopt;
  const std::string_view target = model_name.substr(last + 1);
  const std::string_view before = model_name.substr(0, last);
  const std::string_view source = before.substr(before.rfind('-') + 1);
  if (!is_code(source) || !is_code(target)) return std::nullopt;
  return LanguagePair{std::string(source), std::string(target)};
}

std::string language_name(const std::string& code) {
  return name_of(code, false);
}

std::vector<std::string> language_names(const Languages& languages) {
  std::vector<std::string> each;
  std::map<std::string, int> times;
  for (const LanguageToken& token : languages.tokens) {
    ++times[each.emplace_back(locale_code(token.code).language)];
  }
  for (std::size_t i = 0; i < each.size(); ++i) {
    each[i] = name_of(languages.tokens[i].code, times[each[i]] > 1);
  }
  return each;
}

const LanguageToken& find_language(const Languages& languages, const std::string& asked,
                                   std::string_view field, const std::string& model) {
  if (const LanguageToken* exact = languages.find(asked)) return *exact;
  const std::vector<std::string> names = language_names(languages);
  const auto shown = [&](std::size_t i) {
    return fmt::format("{} ({})", languages.tokens[i].code, names[i]);
  };
  const std::vector<std::size_t> found = find_candidates(languages, asked, names);
  if (found.size() == 1) return languages.tokens[found.front()];
  if (found.empty()) {
    refuse_field(Field{field},
                 fmt::format(" {}: {} does not have this language among its {}; the nearest is {}",
                             excerpt(asked), model, names.size(),
                             shown(nearest_language(languages, asked))));
  }
  std::vector<std::string> all;
  for (const std::size_t i : found) all.push_back(shown(i));
  refuse_field(Field{field},
               fmt::format(" {} may be {}: say which", excerpt(asked), fmt::join(all, " or ")));
}

void set_target_language(const Languages& languages, int id, DecodeConfig& decode) {
  if (languages.target_language_method == TargetLanguageMethod::forced_bos_token)
    decode.forced_bos_token_id = id;
  if (languages.target_language_method == TargetLanguageMethod::decoder_start)
    decode.decoder_start_token_id = id;
}

LanguageChoice choose_languages(const MultilingualModel& model, const SearchOptions& given,
                                DecodeConfig& decode) {
  const Languages& languages = model.languages;
  const auto id_of = [&](const std::string& asked, std::string_view field) {
    if (languages.tokens.empty()) {
      refuse_field(Field{field}, fmt::format(" {}: {} has no language tokens; leave it out",
                                             excerpt(asked), model.name));
    }
    return find_language(languages, asked, field, model.name).id;
  };
  LanguageChoice choice;
  const bool marked = languages.target_language_method == TargetLanguageMethod::source_language_tag;
  if (!given.source_lang.empty()) {
    if (marked) {
      refuse_field(Field{"source_lang"},
                   fmt::format(" {}: {} only needs the target language; leave it out",
                               excerpt(given.source_lang), model.name));
    }
    choice.source = id_of(given.source_lang, "source_lang");
  }
  if (!given.target_lang.empty()) {
    const int id = id_of(given.target_lang, "target_lang");
    (marked ? choice.source : choice.target) = id;
    set_target_language(languages, id, decode);
    return choice;
  }
  // A given translation is in the language that the model's files make the model write.
  for (const int id : {decode.forced_bos_token_id.value_or(-1), model.start}) {
    if (!marked && choice.target < 0 && languages.holds(id)) choice.target = id;
  }
  return choice;
}

LanguageChoice choose_languages(const ReadyModel& model, const SearchOptions& given,
                                DecodeConfig& decode) {
  const int start = model.transformer->config().decoder_start_token_id;
  return choose_languages({model.tokenizer->languages(), model.name, start}, given, decode);
}

FieldText no_target_language_text(const Languages& languages, const std::string& name) {
  return {fmt::format("{} writes {} languages, and its files choose none: give ", name,
                      languages.tokens.size()),
          Field{"target_lang"}};
}

void note_missing_language(const Translator& translator, const TranslationSettings& settings,
                           const std::function<void(const FieldText&)>& say) {
  const Languages& languages = translator.tokenizer().languages();
  if (!languages.uses_language_tokens() || settings.languages.target >= 0) return;
  say(no_target_language_text(languages, translator.summary().name));
}

namespace {

std::string key_of(std::string_view field) {
  return "data." + std::string(field);
}

/// Runs `action`. If it refuses a value from the experiment, the error names its key and blames
/// the file.
template <typename Action>
auto said_by(const ExperimentConfig& experiment, bool asked, Action&& action) {
  try {
    return action();
  } catch (const FieldError<UsageError>& error) {
    if (asked) throw;
    throw InputError("{}: {}", printable(experiment.path), error.text().message_for(key_of));
  }
}

/// Returns "German (deu_Latn)".
std::string named(const Languages& languages, int id) {
  const std::string code = languages.code_of(id);
  return fmt::format("{} ({})", language_name(code), code);
}

}  // namespace

void choose_training_languages(TrainerSetup& setup, const Languages& languages,
                               const ExperimentConfig& experiment, const RequestedLanguages& asked,
                               const std::string& model) {
  const MultilingualModel speaking{languages, model, setup.model.decoder_start_token_id};
  const auto choose = [&](const std::string& said, const std::string& by_file,
                          std::string SearchOptions::*member) {
    SearchOptions given;
    given.*member = said.empty() ? by_file : said;
    return said_by(experiment, !said.empty(),
                   [&] { return choose_languages(speaking, given, setup.decode); });
  };
  const int source =
      choose(asked.source, experiment.data.source_lang, &SearchOptions::source_lang).source;
  LanguageChoice choice =
      choose(asked.target, experiment.data.target_lang, &SearchOptions::target_lang);
  if (source >= 0) choice.source = source;
  if (languages.uses_language_tokens()) {
    // Set the default languages around texts. If the target is the same as the source, it was not
    // set explicitly.
    if (choice.source < 0) choice.source = languages.source;
    if (choice.target < 0 && languages.target != languages.source) {
      choice.target = languages.target;
    }
    if (choice.target < 0) throw FieldError<UsageError>(no_target_language_text(languages, model));
    set_target_language(languages, choice.target, setup.decode);
  }
  // A saved model begins with this token because its own config says so.
  if (setup.decode.decoder_start_token_id) {
    setup.model.decoder_start_token_id = *setup.decode.decoder_start_token_id;
    setup.decode.decoder_start_token_id.reset();
  }
  setup.languages = choice;
}

std::string describe_languages(const TrainerSetup& setup, const Languages& languages) {
  const auto& [source, target] = setup.languages;
  if (languages.uses_language_tokens()) {
    return fmt::format("from {} into {}", named(languages, source), named(languages, target));
  }
  return source < 0 ? "" : fmt::format("into {}", named(languages, source));
}

}  // namespace attn
