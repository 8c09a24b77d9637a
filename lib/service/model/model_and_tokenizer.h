// Models that are made here instead of loaded, for the tokenizer that they will have.
#pragma once

#include <string>

#include "config/decode_config.h"
#include "config/experiment.h"
#include "config/model_config.h"
#include "text/tokenizer.h"

namespace attn {

/// Returns tokenizer.vocab_size, or the default of tokenizer training if the file leaves it out.
int tokenizer_vocab_size(const TokenizerConfig& config);

/// Sets the vocabulary and special ids of a new model to those of its tokenizer, and validates the
/// config. Throws InputError if they contradict each other.
void fit_to_tokenizer(ModelConfig& config, const Tokenizer& tokenizer, const std::string& where);

/// Checks that the tokenizer fits a loaded model, whose config stays as it is, even if its
/// embeddings have more rows than needed. Throws InputError if the tokenizer belongs to another
/// model.
void check_tokenizer_fits(ModelConfig& config, const Tokenizer& tokenizer,
                          const std::string& where);

/// Returns the search settings of a model that is made here: the experiment's `decode`, never
/// producing padding.
DecodeOptions decode_defaults_for(DecodeOptions decode, const ModelConfig& config);

}  // namespace attn
