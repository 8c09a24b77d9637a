#include "service/model/languages.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/strings/excerpt.h"
#include "config/experiment.h"
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

std::string shown(const LanguageToken& token, const Languages& languages) {
  return fmt::format("{} ({})", token.code, language_name(token.code, languages));
}

using Same = std::function<bool(const LanguageToken&)>;

std::vector<const LanguageToken*> all_that(const Languages& languages, const Same& same) {
  std::vector<const LanguageToken*> found;
  for (const LanguageToken& token : languages.tokens) {
    if (same(token)) found.push_back(&token);
  }
  return found;
}

/// What may be meant: of the nearest kind of likeness, all.
std::vector<const LanguageToken*> meant(const Languages& languages, const std::string& asked) {
  const std::string small = in_small_letters(asked);
  const LocaleCode wanted = locale_code(asked);
  const Same ways[] = {
      [&](const auto& token) { return token.code == asked; },
      [&](const auto& token) { return in_small_letters(token.code) == small; },
      [&](const auto& token) { return locale_code(token.code).whole == wanted.whole; },
      [&](const auto& token) { return locale_code(token.code).language == wanted.language; },
      [&](const auto& token) {
        return in_small_letters(language_name(token.code, languages)) == small;
      },
      [&](const auto& token) { return in_small_letters(language_name(token.code)) == small; }};
  for (const Same& same : ways) {
    std::vector<const LanguageToken*> found = all_that(languages, same);
    if (!found.empty()) return found;
  }
  return {};
}

/// The nearest of all codes and names.
const LanguageToken& nearest_language(const Languages& languages, const std::string& asked) {
  std::vector<std::string> words;
  for (const LanguageToken& token : languages.tokens) {
    words.push_back(token.code);
    words.push_back(in_small_letters(language_name(token.code)));
  }
  const std::string close = nearest(in_small_letters(asked), words);
  return languages
      .tokens[static_cast<std::size_t>(std::ranges::find(words, close) - words.begin()) / 2];
}

}  // namespace

std::string language_name(const std::string& code) {
  return english_name(code, false);
}

std::string language_name(const std::string& code, const Languages& among) {
  const std::string language = locale_code(code).language;
  const auto same = all_that(among, [&](const LanguageToken& token) {
    return locale_code(token.code).language == language;
  });
  return english_name(code, same.size() > 1);
}

const LanguageToken& find_language(const Languages& languages, const std::string& asked,
                                   std::string_view field, const std::string& model) {
  const std::vector<const LanguageToken*> found = meant(languages, asked);
  if (found.size() == 1) return *found.front();
  if (found.empty()) {
    refuse_field(Field{field},
                 fmt::format(" {}: {} has no such language among its {}; the nearest is {}",
                             excerpt(asked), model, languages.tokens.size(),
                             shown(nearest_language(languages, asked), languages)));
  }
  std::vector<std::string> all;
  for (const LanguageToken* token : found) all.push_back(shown(*token, languages));
  refuse_field(Field{field},
               fmt::format(" {} may be {}: say which", excerpt(asked), fmt::join(all, " or ")));
}

LanguageChoice choose_languages(const ReadyModel& model, const DecodeOptions& given,
                                DecodeConfig& decode) {
  const Languages& languages = model.tokenizer->languages();
  const auto id_of = [&](const std::string& asked, std::string_view field) {
    if (languages.tokens.empty()) {
      refuse_field(Field{field}, fmt::format(" {}: {} has no tokens of languages; leave it out",
                                             excerpt(asked), model.name));
    }
    return find_language(languages, asked, field, model.name).id;
  };
  LanguageChoice choice;
  const bool marked = languages.target_by == TargetBy::source_mark;
  if (!given.source_lang.empty()) {
    if (marked) {
      refuse_field(Field{"source_lang"},
                   fmt::format(" {}: {} is told the target's language alone; leave it out",
                               excerpt(given.source_lang), model.name));
    }
    choice.source = id_of(given.source_lang, "source_lang");
  }
  if (!given.target_lang.empty()) {
    const int id = id_of(given.target_lang, "target_lang");
    (marked ? choice.source : choice.target) = id;
    if (languages.target_by == TargetBy::first_token) decode.forced_bos_token_id = id;
    if (languages.target_by == TargetBy::decoder_start) decode.decoder_start_token_id = id;
    return choice;
  }
  // A given translation is in the language that the model's files make it write.
  const int start = model.transformer->config().decoder_start_token_id;
  for (const int id : {decode.forced_bos_token_id.value_or(-1), start}) {
    if (!marked && choice.target < 0 && languages.holds(id)) choice.target = id;
  }
  return choice;
}

void note_language(const ReadyModel& model, const Translator& translator,
                   const std::function<void(const FieldText&)>& say) {
  const Languages& languages = model.tokenizer->languages();
  const bool told = languages.target_by == TargetBy::nothing ||
                    languages.target_by == TargetBy::source_mark ||
                    translator.languages().target >= 0;
  if (told) return;
  say({fmt::format("{} writes {} languages, and its files choose none: say ", model.name,
                   languages.tokens.size()),
       Field{"target_lang"}});
}

}  // namespace attn
