// Which language a training run translates from, and which into.
#pragma once

#include <string>

#include "config/experiment.h"
#include "text/languages.h"
#include "train/training_loop.h"

namespace attn {

/// Languages that are asked for beside the experiment's data.source_lang and data.target_lang, and
/// count before them; empty: not asked for.
struct RequestedLanguages {
  std::string source, target;
};

/// Puts the languages into `setup`: what stands around its texts, and in model and decode what
/// makes the model write the target's. `model` is whose they are, in messages. UsageError naming
/// the field where one that is asked for is not known, there are none, or none is chosen;
/// InputError where the experiment says it.
void choose_training_languages(TrainerSetup& setup, const Languages& languages,
                               const ExperimentConfig& experiment, const RequestedLanguages& asked,
                               const std::string& model);

/// "from English (eng_Latn) into German (deu_Latn)"; empty where there are no languages to tell of.
std::string describe_languages(const TrainerSetup& setup, const Languages& languages);

}  // namespace attn
