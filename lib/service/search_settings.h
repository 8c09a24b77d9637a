// Turns search options into the settings of a translation.
#pragma once

#include <optional>
#include <string>

#include "service/model/open_model.h"
#include "service/option_values.h"
#include "translate/line_parts.h"
#include "translate/translator.h"

namespace attn {

/// Returns how lines are split into parts. Throws UsageError for `document` with another `split`
/// than "auto".
Splitting splitting_of(const SearchOptions& given);

const char* to_string(EarlyStopping rule);

/// Uses the given number of threads or, by default, as many as there are cores, but at most 4.
void use_threads(std::optional<int> asked);

/// Returns the settings of a translation: those of `given` and, where it says nothing, those of the
/// model's own files. Throws UsageError if more translations than beams are requested.
TranslationSettings translation_settings(const ReadyModel& model, const SearchOptions& given);

/// Returns a translator for a model, which must outlive it. Its records name the model.
Translator make_translator(const ReadyModel& model);

/// Returns a translator for models that translate together, which must outlive it. Its records hold
/// the maps of `models.maps_of`.
Translator make_translator(const ReadyEnsemble& models);

Ensemble ensemble_of(const ReadyEnsemble& models);

}  // namespace attn
