// tokenizer.json: the one file in which the tokenizers library keeps a whole tokenizer, and which
// transformers 5 writes for BART, LED, Pegasus, T5, NLLB and mBART.
#pragma once

#include <string>
#include <string_view>

#include "text/pipeline/pipeline.h"
#include "text/tokenizer_settings.h"

namespace attn {

/// The pipeline that a file's text describes, with what `settings` say of the model's own tokens.
/// InputError, beginning with `where`, for what is no such file, and, by its name, for a component,
/// a key or a pattern that is not known here; ids from 0 to V − 1 must each have one piece.
Pipeline read_tokenizer_json(std::string_view text, const TokenizerSettings& settings,
                             const std::string& where);

}  // namespace attn
