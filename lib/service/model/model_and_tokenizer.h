// A model that is made here and not loaded, by the tokenizer it will have.
#pragma once

#include <string>

#include "config/decode_config.h"
#include "config/experiment.h"
#include "config/model_config.h"
#include "text/tokenizer.h"

namespace attn {

/// Returns tokenizer.vocab_size, or the default of tokenizer training if the file leaves it out.
int tokenizer_vocab_size(const TokenizerConfig& config);

/// The tokenizer decides vocabulary and special ids of a model that is made; validates the whole.
/// InputError where they contradict each other.
void fit_to_tokenizer(ModelConfig& config, const Tokenizer& tokenizer, const std::string& where);

/// A model that is loaded keeps its config, whatever rows its embeddings have to spare. InputError
/// where the tokenizer is another model's.
void check_tokenizer_fits(ModelConfig& config, const Tokenizer& tokenizer,
                          const std::string& where);

/// Returns the search settings of a model that is made here: the experiment's `decode`, never
/// producing padding.
DecodeOptions decode_defaults_for(DecodeOptions decode, const ModelConfig& config);

}  // namespace attn
