// Languages by code and by name: finding them, naming them, and making a model write them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/decode_config.h"
#include "config/experiment.h"
#include "config/option_table.h"
#include "service/field_text.h"
#include "service/model/open_model.h"
#include "text/languages.h"
#include "train/training_loop.h"
#include "translate/translator.h"

namespace attn {

struct LanguagePair {
  std::string source, target;  ///< "en", "de": ISO 639
};

/// Returns the languages at the end of a model's name, as in "data/models/en-de" or
/// "opus-mt-en-de"; nothing if there are none.
std::optional<LanguagePair> languages_in_name(std::string_view model_name);

/// Returns a language's English name from ICU; the code if ICU has none.
std::string language_name(const std::string& code);

/// Returns a name for each token: "German" for "deu_Latn"; "Chinese (Simplified)" if there are
/// other Chinese languages.
std::vector<std::string> language_names(const Languages& languages);

/// Returns the token of a language, found by the tokenizer's own code, by another code of the same
/// language ("de", "de_DE" for deu_Latn) or by its English name. Throws UsageError that names the
/// field, `model`, and the possible languages or the nearest one.
const LanguageToken& find_language(const Languages& languages, const std::string& asked,
                                   std::string_view field, const std::string& model);

/// A model's languages, its name for messages, and the token that its decoder begins with.
struct MultilingualModel {
  const Languages& languages;
  const std::string& name;
  int start = -1;
};

/// Returns the tokens of the requested languages, and sets `decode` so that the model writes the
/// target language. Throws UsageError if the model does not know a language, has no choice, or
/// takes no source language.
LanguageChoice choose_languages(const MultilingualModel& model, const SearchOptions& given,
                                DecodeConfig& decode);
LanguageChoice choose_languages(const ReadyModel& model, const SearchOptions& given,
                                DecodeConfig& decode);

/// Makes the model write the language of a token by setting the first or the start token in
/// `decode`.
void set_target_language(const Languages& languages, int id, DecodeConfig& decode);

/// Returns "NAME writes 202 languages, and its files choose none: give target_lang".
FieldText no_target_language_text(const Languages& languages, const std::string& name);

/// Notes that no target language was chosen for a multilingual model, neither by the user nor by
/// its files.
void note_missing_language(const Translator& translator, const TranslationSettings& settings,
                           const std::function<void(const FieldText&)>& say);

// The languages that a training run translates from and into.

/// Requested languages, which take precedence over the experiment's data.source_lang and
/// data.target_lang; empty: not requested.
struct RequestedLanguages {
  std::string source, target;
};

/// Sets the languages in `setup`: the tokens around its texts, and the settings of model and
/// decode that make the model write the target language. `model` names the languages' owner in
/// messages. Throws UsageError with the field if a requested language is unknown, if there are
/// none, or if none is chosen; InputError if the experiment requests it.
void choose_training_languages(TrainerSetup& setup, const Languages& languages,
                               const ExperimentConfig& experiment, const RequestedLanguages& asked,
                               const std::string& model);

/// Returns "from English (eng_Latn) into German (deu_Latn)"; empty if there are no languages.
std::string describe_languages(const TrainerSetup& setup, const Languages& languages);

}  // namespace attn
