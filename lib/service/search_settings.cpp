#include "service/search_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/strings/excerpt.h"
#include "compute/threads.h"
#include "service/field_text.h"
#include "service/model/languages.h"
#include "translate/ensemble.h"

namespace attn {

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

WholeField whole_field(const OptionSpec& option) {
  return {option.name, option.low, option.high};
}

DecimalField decimal_field(const OptionSpec& option) {
  return {option.name, option.decimal_low, option.decimal_high};
}

namespace {

void check_choice(const OptionSpec& option, const std::string& text) {
  if (option.choices.empty() || std::ranges::find(option.choices, text) != option.choices.end()) {
    return;
  }
  std::string expected;
  for (std::size_t i = 0; i < option.choices.size(); ++i) {
    const bool last = i + 1 == option.choices.size();
    expected += (i == 0 ? "" : last ? " or " : ", ") + std::string(option.choices[i]);
  }
  refuse_field(Field{option.name}, " " + excerpt(text), ": expected " + expected);
}

void check_range(const OptionSpec& option, const SearchOptions& given) {
  const bool any = option.high == ~std::uint64_t{0};
  if (const auto number = whole_in(given, option); number && !any) {
    checked_whole(whole_field(option), static_cast<std::int64_t>(*number));
  }
  if (const auto number = decimal_in(given, option)) {
    checked_decimal(decimal_field(option), *number);
  }
}

/// What a front end's own types do not rule out.
void check(const SearchOptions& given) {
  for (const OptionSpec& option : search_option_table()) {
    if (!is_given(given, option)) continue;
    check_range(option, given);
    if (!option.needs.empty()) {
      const OptionSpec& needed = search_option(option.needs);
      if (!is_given(given, needed)) {
        refuse_field(Field{option.name}, " goes with ", Field{needed.name});
      }
    }
  }
  if (!given.early_stopping.empty()) {
    check_choice(search_option("early_stopping"), given.early_stopping);
  }
  check_choice(search_option("split"), given.split);
  if (given.sample && given.beam.value_or(1) != 1) {
    refuse_field(Field{"sample"}, " draws one token at a time; ", Field{"beam"},
                 fmt::format(" {} does not go with it", *given.beam));
  }
}

std::optional<EarlyStopping> early_stopping_of(const std::string& word) {
  if (word == "true") return EarlyStopping::yes;
  if (word == "false") return EarlyStopping::no;
  if (word == "never") return EarlyStopping::never;
  return std::nullopt;
}

std::optional<float> as_float(const std::optional<double>& number) {
  return number ? std::optional(static_cast<float>(*number)) : std::nullopt;
}

}  // namespace

void read_option(SearchOptions& options, const OptionSpec& option, const std::string& text) {
  if (is_whole(option)) {
    set_whole(options, option, parse_whole(whole_field(option), text));
  } else if (is_decimal(option)) {
    set_decimal(options, option, parse_decimal(decimal_field(option), text));
  } else if (is_flag(option)) {
    set_flag(options, option, true);
  } else {
    check_choice(option, text);
    set_text(options, option, text);
  }
}

Splitting splitting_of(const SearchOptions& given) {
  if (given.document && given.split != "auto") {
    refuse_field(Field{"document"}, " does not go with ", Field{"split"}, " " + given.split);
  }
  if (given.document) return Splitting::document;
  if (given.split == "never") return Splitting::never;
  return given.split == "sentences" ? Splitting::sentences : Splitting::automatic;
}

DecodeOptions decode_options(const SearchOptions& given) {
  check(given);
  DecodeOptions d;
  d.num_beams = given.beam;
  d.num_return_sequences = given.n_best;
  d.length_penalty = as_float(given.length_penalty);
  d.early_stopping = early_stopping_of(given.early_stopping);
  // Produced tokens with the end symbol are counted here; `generate` counts the start symbol, too.
  if (given.max_length) d.max_length = *given.max_length + 1;
  d.min_new_tokens = given.min_length;
  d.no_repeat_ngram_size = given.no_repeat_ngram;
  d.encoder_no_repeat_ngram_size = given.encoder_no_repeat_ngram;
  d.repetition_penalty = as_float(given.repetition_penalty);
  if (given.sample) d.do_sample = true;
  d.temperature = as_float(given.temperature);
  d.top_k = given.top_k;
  d.top_p = as_float(given.top_p);
  d.min_p = as_float(given.min_p);
  d.typical_p = as_float(given.typical);
  d.sampling_seed = given.sample_seed;
  return d;
}

void use_threads(std::optional<int> asked) {
  set_threads(asked ? checked_whole(whole_field(search_option("threads")), *asked)
                    : std::min(available_cores(), 4));
}

namespace {

/// What is asked of the search, and what the model's own files say beside it.
DecodeConfig decode_config(const ReadyModel& model, const SearchOptions& options) {
  const DecodeOptions given = decode_options(options);
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

std::unique_ptr<Translator> make_translator(const ReadyModel& model, const SearchOptions& given) {
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
                                            const SearchOptions& given) {
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
