// Models of configs that name no tokenizer: one is trained on the config's text before its random
// weights can be made.
#pragma once

#include "service/model/model_choice.h"
#include "service/model/open_model.h"

namespace attn {

/// Opens the chosen model as open_model() does. If it is a config without tokenizer.model, trains
/// the tokenizer first, in a temporary directory that lives as long as the model. Throws the errors
/// of both; a shape that cannot be is refused before anything is trained.
ReadyModel open_or_make_model(const ModelChoice& choice);

/// The same for models that translate together.
ReadyEnsemble open_or_make_models(const ModelChoice& choice);

}  // namespace attn
