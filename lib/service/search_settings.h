// How translations are searched.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "service/model/open_model.h"
#include "service/option_values.h"
#include "translate/line_parts.h"
#include "translate/translator.h"

namespace attn {

/// How lines are cut into parts. UsageError for `document` with another `split` than "auto".
Splitting splitting_of(const SearchOptions& given);

const char* to_string(EarlyStopping rule);

/// As many as asked for, else the cores, at most 4.
void use_threads(std::optional<int> asked);

/// A translator that searches as `given` says, else as the model's own files do, and whose records
/// name the model. UsageError where more translations are asked for than there are beams. `model`
/// outlives it.
std::unique_ptr<Translator> make_translator(const ReadyModel& model, const SearchOptions& given);

Ensemble ensemble_of(const ReadyEnsemble& models);

/// The same for models that translate together: the files that count are the first model's, and the
/// maps those of `models.maps_of`.
std::unique_ptr<Translator> make_translator(const ReadyEnsemble& models,
                                            const SearchOptions& given);

}  // namespace attn
