// A training run that goes on from a model directory instead of random weights.
#pragma once

#include <string>

#include "config/experiment.h"

namespace attn {

/// Makes the experiment one of the model in `directory`: its shape and its tokenizer take the place
/// of the sections `model` and `tokenizer`. The config's dropouts stay where it names them. What
/// else it says of the model must be what the directory has (InputError that names the key and both
/// values). Returns a sentence for the user where the tokenizer section says something else, or "".
std::string start_from_model(ExperimentConfig& experiment, const std::string& directory);

}  // namespace attn
