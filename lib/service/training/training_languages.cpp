#include "service/training/training_languages.h"

#include "base/error.h"
#include "base/strings/utf8.h"
#include "service/model/languages.h"

namespace attn {
namespace {

std::string key_of(std::string_view field) {
  return "data." + std::string(field);
}

/// Where the experiment said what is refused, its key is named, and the file is at fault.
template <typename Action>
auto said_by(const ExperimentConfig& experiment, bool asked, Action&& action) {
  try {
    return action();
  } catch (const FieldError<UsageError>& error) {
    if (asked) throw;
    throw InputError("{}: {}", printable(experiment.path), error.text().message_for(key_of));
  }
}

/// "German (deu_Latn)"
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
    // What stands around texts unless somebody says otherwise; a target that is the source's was
    // said by nobody.
    if (choice.source < 0) choice.source = languages.source;
    if (choice.target < 0 && languages.target != languages.source) {
      choice.target = languages.target;
    }
    if (choice.target < 0) throw FieldError<UsageError>(no_target_language_text(languages, model));
    set_target_language(languages, choice.target, setup.decode);
  }
  // A model that is kept begins with it by its own config.
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
