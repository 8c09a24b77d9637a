#include "service/search_settings.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/strings/excerpt.h"
#include "compute/threads.h"
#include "service/field_text.h"
#include "service/model/languages.h"
#include "translate/ensemble.h"

namespace attn {

EarlyStopping parse_early_stopping(const std::string& text) {
  if (text == "true") return EarlyStopping::yes;
  if (text == "false") return EarlyStopping::no;
  if (text == "never") return EarlyStopping::never;
  refuse_field(Field{"early_stopping"}, " " + excerpt(text), ": expected true, false or never");
}

const char* to_string(EarlyStopping rule) {
  switch (rule) {
    case EarlyStopping::no:
      break;
    case EarlyStopping::yes:
      return "true";
    case EarlyStopping::never:
      return "never";
  }
  return "false";
}

Splitting parse_splitting(const std::string& text, bool document) {
  if (document && text == "auto") return Splitting::document;
  if (document) refuse_field(Field{"document"}, " does not go with ", Field{"split"}, " " + text);
  if (text == "never") return Splitting::never;
  if (text == "sentences") return Splitting::sentences;
  if (text == "auto") return Splitting::automatic;
  refuse_field(Field{"split"}, " " + excerpt(text), ": expected never, sentences or auto");
}

DecodeOptions SearchSettings::decode() const {
  DecodeOptions d = rules;
  if (beam) d.num_beams = checked_whole(beam_field, *beam);
  if (n_best) d.num_return_sequences = checked_whole(n_best_field, *n_best);
  if (length_penalty) d.length_penalty = checked_decimal(length_penalty_field, *length_penalty);
  d.early_stopping = early_stopping;
  d.source_lang = source_lang;
  d.target_lang = target_lang;
  d.prefix = prefix;
  // Produced tokens with the end symbol are counted here; `generate` counts the start symbol, too.
  if (max_length) d.max_length = checked_whole(max_length_field, *max_length) + 1;
  return d;
}

void use_threads(std::optional<int> asked) {
  set_threads(asked ? checked_whole(threads_field, *asked) : std::min(available_cores(), 4));
}

namespace {

/// What is asked of the search, and what the model's own files say beside it.
DecodeConfig decode_config(const ReadyModel& model, const DecodeOptions& given) {
  const DecodeOptions merged = merge(given, model.decode);
  const int beams = merged.num_beams.value_or(1);
  const bool drawn = given.do_sample.value_or(false);
  if (!drawn && given.num_return_sequences && *given.num_return_sequences > beams) {
    refuse_field(Field{"n_best"},
                 fmt::format(" {} is more than the {} beam{} of the search; raise ",
                             *given.num_return_sequences, beams, beams == 1 ? "" : "s"),
                 Field{"beam"});
  }
  return resolve(merged, model.default_forced_eos, model.name);
}

ModelSummary summary_of(const ReadyModel& model) {
  ModelSummary summary = summarise(model.transformer->config());
  summary.name = model.name;
  summary.random_weights = model.seed.has_value();
  summary.seed = model.seed;
  summary.precision = to_string(model.precision);
  return summary;
}

}  // namespace

std::unique_ptr<Translator> make_translator(const ReadyModel& model, const DecodeOptions& given) {
  DecodeConfig decode = decode_config(model, given);
  const LanguageChoice languages = choose_languages(model, given, decode);
  auto translator =
      std::make_unique<Translator>(*model.transformer, *model.tokenizer, std::move(decode));
  translator->speak(languages);
  translator->describe(summary_of(model));
  translator->set_prefix(given.prefix.value_or(model.prefix));
  return translator;
}

Ensemble ensemble_of(const ReadyEnsemble& models) {
  std::vector<const Transformer*> transformers;
  for (const ReadyModel& model : models.models) transformers.push_back(model.transformer.get());
  return Ensemble(std::move(transformers));
}

std::unique_ptr<Translator> make_translator(const ReadyEnsemble& models,
                                            const DecodeOptions& given) {
  const ReadyModel& first = models.models.front();
  DecodeConfig decode = decode_config(first, given);
  const LanguageChoice languages = choose_languages(first, given, decode);
  auto translator = std::make_unique<Translator>(ensemble_of(models), *first.tokenizer,
                                                 std::move(decode), models.maps_of);
  translator->speak(languages);
  ModelSummary summary = summary_of(models.mapped());
  if (models.models.size() > 1) summary.ensemble = models.names();
  translator->describe(std::move(summary));
  translator->set_prefix(given.prefix.value_or(first.prefix));
  return translator;
}

}  // namespace attn
