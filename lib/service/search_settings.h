// How translations are searched.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "config/decode_config.h"
#include "config/option_table.h"
#include "service/model/open_model.h"
#include "service/values.h"
#include "translate/line_parts.h"
#include "translate/translator.h"

namespace attn {

/// What model files call the options of a search: the options that were given as generation_config
/// keys. UsageError naming the field, its value and its range for a value that is out of range, and
/// for options that exclude each other.
DecodeOptions decode_options(const SearchOptions& given);

/// How lines are cut into parts. UsageError for `document` with another `split` than "auto".
Splitting splitting_of(const SearchOptions& given);

/// The whole-number or decimal range of an option, for messages.
WholeField whole_field(const OptionSpec& option);
DecimalField decimal_field(const OptionSpec& option);

/// Stores a value that was given as text: of the command line, or of Python. UsageError naming the
/// field for text that is no value of the option.
void read_option(SearchOptions& options, const OptionSpec& option, const std::string& text);

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
