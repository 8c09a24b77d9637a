// How translations are searched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "config/decode_config.h"
#include "service/model/model_source.h"
#include "service/values.h"
#include "translate/line_parts.h"
#include "translate/translator.h"

namespace attn {

inline constexpr WholeField beam_field{"beam", 1, 1000};
inline constexpr WholeField n_best_field{"n_best", 1, 1000};
inline constexpr WholeField max_length_field{"max_length", 1, 1'000'000};
inline constexpr WholeField threads_field{"threads", 1, 1024};
inline constexpr WholeField batch_field{"batch", 1, 100'000};
inline constexpr DecimalField length_penalty_field{"length_penalty", -100, 100};

/// What is not set is as the model's own files say.
struct SearchSettings {
  std::optional<int> beam, n_best;
  std::optional<double> length_penalty;
  std::optional<EarlyStopping> early_stopping;
  std::optional<int> max_length;  ///< produced tokens, the end symbol included
  std::optional<int> threads;     ///< else the cores, at most 4
  std::size_t batch = 32;         ///< sentences that are translated together
  Splitting split = Splitting::automatic;

  std::string source_lang, target_lang;  ///< codes or names, for models of several languages
  std::optional<std::string> prefix;     ///< of every source text, instead of the model's own
  DecodeOptions rules;  ///< what else is asked of the search: repeats, penalties, drawing at random

  /// UsageError naming the field, the value and its range.
  DecodeOptions decode() const;
};

/// Where a front end finds the numbers that are asked for; nothing: not given.
struct AskedNumbers {
  std::function<std::optional<std::uint64_t>(const WholeField&)> whole;
  std::function<std::optional<double>(const DecimalField&)> decimal;
};

/// search_rules.cpp: SearchSettings::rules, which are no_repeat_ngram, encoder_no_repeat_ngram,
/// repetition_penalty, min_length, and where `sample`, temperature, top_k, top_p, min_p, typical
/// and sample_seed. UsageError for one of these without it, and for more than one beam with it.
DecodeOptions search_rules(const AskedNumbers& asked, bool sample, std::optional<int> beam);

/// "true", "false" or "never"; UsageError for another word.
EarlyStopping parse_early_stopping(const std::string& text);
const char* to_string(EarlyStopping rule);
/// "never", "sentences" or "auto"; with `document` what --document asks for, which goes with auto.
/// UsageError for another word.
Splitting parse_splitting(const std::string& text, bool document = false);

/// As many as asked for, else the cores, at most 4.
void use_threads(std::optional<int> asked);

/// A translator that searches as `given` says, else as the model's own files do, and whose records
/// name the model. UsageError where more translations are asked for than there are beams. `model`
/// outlives it.
std::unique_ptr<Translator> make_translator(const ReadyModel& model, const DecodeOptions& given);

Ensemble ensemble_of(const ReadyEnsemble& models);

/// The same for models that translate together: the files that count are the first model's, and the
/// maps those of `models.maps_of`.
std::unique_ptr<Translator> make_translator(const ReadyEnsemble& models,
                                            const DecodeOptions& given);

}  // namespace attn
