// tokenizer.json: a whole tokenizer in one file of the tokenizers library, written by transformers
// 5 for BART, LED, Pegasus, T5, NLLB and mBART.
#pragma once

#include <string>
#include <string_view>

#include "text/pipeline/pipeline.h"
#include "text/tokenizer_settings.h"

namespace attn {

/// Builds the pipeline that a file describes; `settings` define the model's special tokens. Throws
/// InputError, beginning with `where`, if the text is not such a file or contains an unknown
/// component, key or pattern, which the message names. Every id from 0 to V − 1 must have exactly
/// one token.
Pipeline read_tokenizer_json(std::string_view text, const TokenizerSettings& settings,
                             const std::string& where);

}  // namespace attn
